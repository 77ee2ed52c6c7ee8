// The commands of the daemon: one service for the built-in worker and for those behind HTTP, and the loop that takes
// commands back from workers that are lost.
import type { Bus } from '../bus/connect.js'
import { writeNotice } from '../domain/commands/commandNotice.js'
import { componentLog } from '../runtime/log.js'
import type { Service } from '../runtime/service.js'
import { type CommandKeeperDeps, createCommandKeeper } from '../services/commands/commandKeeper.js'
import { type Commands, createCommands } from '../services/commands/commands.js'
import type { Core } from './core.js'
import type { Deps } from './deps.js'
import { loopErrors } from './loopErrors.js'

const NOTICE_TIMEOUT_MS = 5_000

export function buildCommands(deps: Deps, core: Core): Commands {
  const { databases, clock, keyring, metrics, config } = deps
  return createCommands({
    databases,
    appender: core.appender,
    ids: core.ids,
    clock,
    keyring,
    pollMs: config.commandPollMs,
    onError: loopErrors(deps, 'commands'),
    onClaimed: (attempt, waitedSeconds) => {
      metrics.inc('noetl_cp_commands_claimed_total', { outcome: attempt > 1 ? 'reclaimed' : 'claimed' })
      if (attempt === 1) metrics.observe('noetl_cp_command_wait_seconds', waitedSeconds)
    },
    onIgnored: (reason) => metrics.inc('noetl_cp_command_answers_ignored_total', { reason }),
  })
}

/** Tells workers by NATS of commands that wait. */
export function commandNotices(deps: Deps, bus: Bus, serverUrl: () => string): CommandKeeperDeps['tellWorkers'] {
  if (!deps.config.commandNotify) return undefined
  return async (facts) => {
    if (!bus.isConnected()) return
    const client = bus.connection().jetstream({ timeout: NOTICE_TIMEOUT_MS })
    const notices = facts.map((one) => writeNotice(one, serverUrl()))
    await Promise.all(
      notices.map(({ subject, body, messageId }) => client.publish(subject, body, { msgID: messageId })),
    )
    deps.metrics.inc('noetl_cp_command_notices_repeated_total', {}, notices.length)
  }
}

export function commandLoops(
  deps: Deps,
  core: Core,
  commands: Commands,
  { wake, tellWorkers }: Pick<CommandKeeperDeps, 'tellWorkers'> & { wake(executionIds: readonly string[]): void },
): Service[] {
  const { databases, clock, random, metrics, config } = deps
  const log = componentLog(deps.log, 'commands')
  return [
    createCommandKeeper({
      databases,
      appender: core.appender,
      ids: core.ids,
      clock,
      random,
      hardLimitSeconds: config.commandHardLimitSeconds,
      onReclaimed: (shard, count) => {
        metrics.inc('noetl_cp_commands_lost_total', { outcome: 'reclaimed' }, count)
        log.warn({ shard, commands: count }, 'workers were lost; their commands go to others')
        commands.nudge(shard)
      },
      onLost: (count) => {
        metrics.inc('noetl_cp_commands_lost_total', { outcome: 'failed' }, count)
        log.warn({ commands: count }, 'commands lost their workers too often and have failed')
      },
      onOverdue: wake,
      tellWorkers,
      onCounts: (shard, counts) => {
        for (const status of ['PENDING', 'CLAIMED', 'RUNNING'] as const) {
          const found = counts.find((one) => one.status === status)
          const labels = { shard: String(shard), status }
          metrics.set('noetl_cp_commands_open', found?.commands ?? 0, labels)
          metrics.set('noetl_cp_commands_oldest_seconds', found?.oldest_seconds ?? 0, labels)
        }
      },
      onError: loopErrors(deps, 'command keeper'),
    }),
  ]
}
