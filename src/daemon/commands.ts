// The commands of the daemon: one service for the built-in worker and for those behind HTTP.
import { type Commands, createCommands } from '../services/commands/commands.js'
import type { Core } from './core.js'
import type { Deps } from './deps.js'
import { loopErrors } from './loopErrors.js'

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
    onClaimed: (outcome) => metrics.inc('noetl_cp_commands_claimed_total', { outcome }),
    onIgnored: (reason) => metrics.inc('noetl_cp_command_answers_ignored_total', { reason }),
  })
}
