// The subcommands by their first word, in the order of the help page. A command that is called loads the files of its own
// word alone: `noetl-cp id new` must not read a web server first.
import type { CommandSpec } from '../command.js'

export interface CommandGroup {
  /** The first word of its commands: `outbox` of `outbox drain`. */
  word: string
  /** For the help page of the program. */
  summary: string
  load(): Promise<readonly CommandSpec[]>
}

export const COMMAND_GROUPS: readonly CommandGroup[] = [
  group('run', 'Run a playbook and watch it', async () => [(await import('./executions/run.js')).run]),
  group('exec', 'The same as run', async () => [(await import('./executions/run.js')).exec]),
  group('serve', 'Run the daemon', async () => [(await import('./instance/serve.js')).serve]),
  group('status', 'One screen about the running instance', async () => [(await import('./instance/status.js')).status]),
  group('console', 'Open the web console, logged in', async () => [
    (await import('./access/openConsole.js')).consoleCommand,
  ]),
  group('activity', 'What people did through console, API and commands', async () => [
    (await import('./access/activity.js')).activity,
  ]),
  group('doctor', 'Look for trouble, and say how to mend it', async () => [
    (await import('./health/doctor.js')).doctor,
  ]),
  group('migrate', 'Bring the schema of every database up to date', async () => [
    (await import('./instance/migrate.js')).migrate,
  ]),
  group('schema', 'Give a database back to the NoETL server', async () => [
    (await import('./instance/schema.js')).schemaRemove,
  ]),
  group('demo', 'Fill a running instance with a few executions to look at', async () => [
    (await import('./instance/demo.js')).demo,
  ]),
  group('execution', 'Executions', async () => {
    const { executionList, executionShow } = await import('./executions/execution.js')
    const { executionStart, executionCancel, executionFinalize } = await import('./executions/executionControl.js')
    const { executionResultCommand } = await import('./executions/executionResult.js')
    const { executionWatch } = await import('./executions/executionWatch.js')
    const { executionLogs } = await import('./executions/executionLogs.js')
    const { executionRerun } = await import('./executions/executionRerun.js')
    const { executionResume } = await import('./executions/executionResume.js')
    const { executionAdopt } = await import('./executions/executionAdopt.js')
    return [
      executionList,
      executionShow,
      executionStart,
      executionWatch,
      executionResultCommand,
      executionLogs,
      executionRerun,
      executionResume,
      executionAdopt,
      executionCancel,
      executionFinalize,
    ]
  }),
  group('bulk', 'One act on many executions', async () => {
    const { bulkActs } = await import('./executions/bulk.js')
    const { bulkList, bulkShow, bulkStop } = await import('./executions/bulkJob.js')
    return [...bulkActs, bulkList, bulkShow, bulkStop]
  }),
  group('events', 'The event log', async () => {
    const { eventsTail, eventsExport } = await import('./events/events.js')
    const { eventsAppend, eventsImport } = await import('./events/eventsWrite.js')
    return [eventsTail, eventsAppend, eventsExport, eventsImport]
  }),
  group('replay', 'Rebuild an execution from its events', async () => {
    const { replay } = await import('./replay/replay.js')
    const { replayDiff } = await import('./replay/diff.js')
    const { replayStep } = await import('./replay/step.js')
    const { replayVerify } = await import('./replay/verify.js')
    const { replayParity } = await import('./replay/parity.js')
    return [replay, replayDiff, replayStep, replayVerify, replayParity]
  }),
  group('state', 'Live state of executions', async () => {
    const { stateShow, stateWhyStuck } = await import('./state/state.js')
    return [stateShow, stateWhyStuck]
  }),
  group('snapshot', 'Snapshots of execution state', async () => {
    const { snapshotList, snapshotShow } = await import('./state/snapshotLook.js')
    const { snapshotTake } = await import('./state/snapshotTake.js')
    const { snapshotVerify, snapshotRebuild, snapshotPrune } = await import('./state/snapshotWork.js')
    return [snapshotList, snapshotShow, snapshotTake, snapshotVerify, snapshotRebuild, snapshotPrune]
  }),
  group('catalog', 'Playbooks and subscriptions on file', async () => {
    const { catalogRegister, catalogList, catalogGet, catalogDelete, catalogRestore } = await import(
      './catalog/catalog.js'
    )
    const { catalogValidate } = await import('./catalog/validate.js')
    const { catalogUsedBy } = await import('./catalog/usedBy.js')
    return [catalogRegister, catalogList, catalogGet, catalogUsedBy, catalogValidate, catalogDelete, catalogRestore]
  }),
  group('template', 'Try a template: print its typed value, or the error with its place', async () => [
    (await import('./template/template.js')).templateEval,
  ]),
  group('projector', 'Events that come from elsewhere', async () => {
    const { quarantineList, quarantineRetry, quarantineDrop } = await import('./projector/projector.js')
    return [quarantineList, quarantineRetry, quarantineDrop]
  }),
  group('outbox', 'The outbox and its relay', async () => {
    const { outboxStatusCommand, outboxList, outboxShow } = await import('./outbox/outbox.js')
    const { outboxDrain } = await import('./outbox/drain.js')
    const { outboxRetry, outboxDeadList, outboxDeadRedrive, outboxDeadDrop, outboxPurge } = await import(
      './outbox/work.js'
    )
    const { outboxAudit } = await import('./outbox/audit.js')
    return [
      outboxStatusCommand,
      outboxDrain,
      outboxList,
      outboxShow,
      outboxRetry,
      outboxDeadList,
      outboxDeadRedrive,
      outboxDeadDrop,
      outboxAudit,
      outboxPurge,
    ]
  }),
  group('subscription', 'Long-lived listeners', async () => {
    const {
      subscriptionRegister,
      subscriptionActivate,
      subscriptionPause,
      subscriptionResume,
      subscriptionDrain,
      subscriptionDeactivate,
      subscriptionRebuild,
    } = await import('./subscriptions/subscription.js')
    const { subscriptionShow, subscriptionList, subscriptionHistory, subscriptionWatch } = await import(
      './subscriptions/view.js'
    )
    const { subscriptionDeadList, subscriptionDeadRedrive, subscriptionDeadDrop } = await import(
      './subscriptions/dead.js'
    )
    return [
      subscriptionRegister,
      subscriptionActivate,
      subscriptionPause,
      subscriptionResume,
      subscriptionDrain,
      subscriptionDeactivate,
      subscriptionShow,
      subscriptionList,
      subscriptionHistory,
      subscriptionWatch,
      subscriptionDeadList,
      subscriptionDeadRedrive,
      subscriptionDeadDrop,
      subscriptionRebuild,
    ]
  }),
  group('schedule', 'Playbooks that start by themselves', async () => {
    const { scheduleList, schedulePause, scheduleResume, scheduleNext } = await import('./schedules/schedule.js')
    return [scheduleList, scheduleNext, schedulePause, scheduleResume]
  }),
  group('command', 'Commands that workers run for playbooks', async () => {
    const { commandList, commandShow, commandRequeue } = await import('./commands/command.js')
    return [commandList, commandShow, commandRequeue]
  }),
  group('worker', 'Run commands of playbooks, in a process of its own; pools of workers', async () => {
    const { workerLimits, workerPause, workerResume, workerLimit } = await import('./workers/pool.js')
    const { worker } = await import('./workers/workerRun.js')
    return [
      worker,
      (await import('./workers/worker.js')).workerList,
      workerLimits,
      workerPause,
      workerResume,
      workerLimit,
    ]
  }),
  group('credential', 'Credentials of tools, stored sealed', async () => {
    const { credentialSet, credentialList, credentialShow, credentialDelete, credentialRekey } = await import(
      './credentials/credential.js'
    )
    return [credentialSet, credentialList, credentialShow, credentialDelete, credentialRekey]
  }),
  group('retention', 'Drop events of executions that ended long ago', async () => [
    (await import('./retention/retention.js')).retention,
  ]),
  group('shard', 'Shards', async () => {
    const { shardOfId, shardList } = await import('./shards/shard.js')
    return [shardOfId, shardList]
  }),
  group('id', 'Ids', async () => {
    const { idNew, idInspect } = await import('./ids/id.js')
    return [idNew, idInspect]
  }),
  group('config', 'Settings', async () => {
    const { configShow, configCheck, configInit, configSchema } = await import('./instance/config.js')
    return [configShow, configCheck, configInit, configSchema]
  }),
  group('env', 'Print what psql and the nats tool need to reach the servers', async () => [
    (await import('./instance/env.js')).env,
  ]),
  group('completion', 'Print a shell completion script', async () => [
    (await import('./instance/completion.js')).completion,
  ]),
  group('complete', 'Print what could stand in place of the last word', async () => {
    const { completeOf } = await import('./instance/complete.js')
    return [completeOf(commandsOf)]
  }),
  group('version', 'Print the version', async () => [(await import('./instance/version.js')).version]),
]

/** Those that begin with this word; where it is still to be written, each group as if it were a command. */
async function commandsOf(word: string | undefined): Promise<readonly CommandSpec[]> {
  const called = COMMAND_GROUPS.find((one) => one.word === word)
  if (called !== undefined) return called.load()
  return COMMAND_GROUPS.map((one) => ({ path: [one.word], summary: one.summary, examples: [], run: async () => 0 }))
}

/** Every command, for the pages that list them and the tests that go through them. @public */
export async function allCommands(): Promise<CommandSpec[]> {
  return (await Promise.all(COMMAND_GROUPS.map(({ load }) => load()))).flat()
}

function group(word: string, summary: string, load: CommandGroup['load']): CommandGroup {
  return { word, summary, load }
}
