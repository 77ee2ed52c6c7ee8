// What an execution waits for as far as its open commands and the pools that should run them tell.
import type { OpenWork } from '../../domain/state/openWork.js'
import type { CommandLimit } from '../../stores/commands/commandLimits.js'
import type { ExecutionRow } from '../../stores/executions/executionStore.js'
import type { ClaimAge, EventAge, PoolAge } from '../../stores/state/stateStuckStore.js'
import { type FindingTarget, type StuckFinding, span } from './stuckFinding.js'

const POOL_SECONDS_MAX = 60

export function commandFindings(
  row: ExecutionRow,
  openByLog: readonly OpenWork[],
  ages: readonly EventAge[],
  claims: readonly ClaimAge[],
  pools: readonly PoolAge[],
  limits: readonly CommandLimit[],
): StuckFinding[] {
  const ageOf = new Map(ages.map((row) => [row.event_id, row]))
  const claimOf = new Map(claims.map((row) => [row.command_id, row]))
  const alive = pools.filter(({ age_seconds, status }) => age_seconds < POOL_SECONDS_MAX && status !== 'offline')
  const findings: StuckFinding[] = []
  const open = openByLog.map((item) => (isGivenBack(item, ageOf) ? { ...item, kind: 'unclaimed' as const } : item))
  for (const item of open) {
    const age = item.eventId === undefined ? undefined : ageOf.get(item.eventId)
    const finding = withDeadline(item, findingOf(row, item, claimOf.get(item.commandId ?? ''), alive))
    findings.push(age === undefined ? finding : { ...finding, seconds: age.age_seconds })
  }
  // Who would have to claim them comes before what is to be claimed.
  const wanted = [...new Set(ages.flatMap(({ pool }) => pool ?? []))]
  const missing = wanted.filter((wantedPool) => !alive.some(({ pool }) => pool === wantedPool))
  if (open.some(({ kind }) => kind === 'unclaimed') && (alive.length === 0 || missing.length > 0)) {
    const last = pools[0]
    const heard =
      last === undefined ? 'none has ever registered' : `${last.name} last reported ${span(last.age_seconds)} ago`
    const which = missing.length > 0 ? `no worker pool named ${missing.join(', ')} is alive` : 'no worker pool is alive'
    findings.unshift({
      reason: 'missing worker pool',
      what: `${which}; ${heard}`,
      next: missing.length > 0 ? `noetl-cp worker --worker-pools ${missing.join(',')}` : 'noetl-cp worker',
      target: { kind: 'pool', id: missing[0] ?? last?.pool ?? '' },
      actions: [],
    })
  }
  if (open.some(({ kind }) => kind === 'unclaimed')) findings.unshift(...pauseFindings(wanted, limits))
  return findings
}

/** Taken away from its worker again: that is no event, so the log still has it as claimed. */
function isGivenBack({ kind, eventId }: OpenWork, ages: ReadonlyMap<string, EventAge>): boolean {
  return (kind === 'claimed' || kind === 'started') && eventId !== undefined && ages.get(eventId)?.is_waiting === true
}

function pauseFindings(wanted: readonly string[], limits: readonly CommandLimit[]): StuckFinding[] {
  return limits
    .filter(({ scope, name, paused_at: at }) => scope === 'pool' && at !== null && wanted.includes(name))
    .map(({ name, paused_at: at, reason }) => ({
      reason: 'paused pool',
      what: `pool ${name} is paused since ${at}${reason === null ? '' : `: ${reason}`}`,
      next: `noetl-cp worker resume ${name}`,
      target: { kind: 'pool', id: name },
      actions: [],
    }))
}

/** The engine ends what takes too long by itself. */
function withDeadline({ deadline }: OpenWork, finding: StuckFinding): StuckFinding {
  return deadline === undefined
    ? finding
    : { ...finding, what: `${finding.what}; the engine gives it up at ${deadline}` }
}

function findingOf(
  { execution_id: executionId, engine }: ExecutionRow,
  item: OpenWork,
  claim: ClaimAge | undefined,
  alive: readonly PoolAge[],
): StuckFinding {
  const { step, commandId } = item
  const ofStep: Pick<StuckFinding, 'target' | 'actions'> = { target: { kind: 'step', id: step }, actions: [] }
  const command: FindingTarget = { kind: 'command', id: commandId ?? '' }
  switch (item.kind) {
    case 'failed':
      return {
        reason: 'failed step',
        what: `step ${step} failed${item.error === undefined ? '' : `: ${item.error}`}`,
        next:
          engine === null
            ? `noetl-cp execution finalize ${executionId}`
            : 'the engine ends the execution when everything under way has ended',
        target: ofStep.target,
        actions: engine === null ? ['execution.finalize'] : [],
      }
    case 'parked':
      return {
        reason: 'parked callback',
        what: `step ${step} waits for the callback of command ${commandId}`,
        next: 'its call.done event ends the step',
        target: command,
        actions: [],
      }
    case 'entered':
      return {
        reason: 'entered step',
        what: `step ${step} was entered and has no command`,
        next: engine === null ? 'its orchestrator issues it' : 'the engine issues it',
        ...ofStep,
      }
    case 'child':
      return {
        reason: 'child playbook',
        what: `step ${step} waits for execution ${item.child}, which it has started`,
        next: `noetl-cp state why-stuck ${item.child}`,
        target: { kind: 'execution', id: item.child ?? '' },
        actions: [],
      }
    case 'waiting':
      return {
        reason: 'waiting step',
        what: waitingText(item),
        next: 'look at what these steps wait for',
        ...ofStep,
      }
    case 'unclaimed':
      return {
        reason: 'unclaimed command',
        what: `command ${commandId} of step ${step} is issued, no worker has claimed it`,
        next: 'look at the workers of its pool',
        target: command,
        actions: [],
      }
    default: {
      const worker = claim?.worker_id ?? 'a worker'
      const isAlive = alive.some(({ name }) => worker === name || worker.startsWith(`${name}-`))
      const verb = item.kind === 'started' ? 'runs' : 'claimed'
      const what = `${worker} ${verb} command ${commandId} of step ${step}`
      return isAlive
        ? { reason: 'running command', what, next: 'wait', target: command, actions: [] }
        : {
            reason: 'expired command',
            what: `${what}; no worker pool of that name has reported in the last ${POOL_SECONDS_MAX} s`,
            next:
              engine === null
                ? `if it is gone: append its command.failed event, or noetl-cp execution cancel ${executionId}`
                : `when its lease is over another worker gets it; at once with noetl-cp command requeue ${item.eventId ?? ''}`,
            ...(engine === null
              ? { target: { ...command, step }, actions: ['command.fail', 'execution.cancel'] }
              : {
                  target: { kind: 'command', id: item.eventId ?? '' },
                  actions: ['command.requeue', 'execution.cancel'],
                }),
          }
    }
  }
}

function waitingText({ step, blockers = [] }: OpenWork): string {
  if (blockers.length === 0) return `step ${step} was reached and is entered next`
  const others = blockers.map((name) => `step ${name}`).join(', ')
  return `step ${step} was reached and waits for ${others}, which can still lead to it`
}
