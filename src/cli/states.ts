// Runs a subcommand that looks at live states: a thread of its own reads snapshot and log, so it works beside a
// daemon and without one, and drives nothing.
import type { Deps } from '../daemon/deps.js'
import { buildStates, type States } from '../daemon/states.js'
import type { CommandContext } from './command.js'

const STOP_DEADLINE_MS = 1_000

export async function withStates<T>(
  context: CommandContext,
  work: (states: States & { deps: Deps }) => Promise<T>,
): Promise<T> {
  const deps = await context.deps()
  const states = buildStates(deps, undefined)
  try {
    return await work({ ...states, deps })
  } finally {
    await states.state.stop(STOP_DEADLINE_MS)
  }
}
