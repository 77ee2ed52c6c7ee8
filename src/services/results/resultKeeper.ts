// Removes results whose own time is over; the others go with their execution.
import type { Databases } from '../../db/databases.js'
import { type CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import { purgeResults } from '../../stores/results/resultStore.js'

const PASS_MS = 60_000
const ROWS_PER_PASS = 500

export function createResultKeeper(deps: {
  databases: Databases
  clock: Clock
  random: () => number
  onError(error: CpError): void
}): PollLoop {
  return createPollLoop({
    name: 'result keeper',
    clock: deps.clock,
    random: deps.random,
    idleMs: PASS_MS,
    errorMs: 1_000,
    errorMsMax: PASS_MS,
    onError: deps.onError,
    runOnce: async () => {
      const { answers, failures } = await deps.databases.fanOut((db) => purgeResults(db, ROWS_PER_PASS))
      if (failures[0] !== undefined) throw toCpError(failures[0].error)
      return answers.some(({ value }) => value === ROWS_PER_PASS) ? 'busy' : 'idle'
    },
  })
}
