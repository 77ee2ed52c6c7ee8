// Looks several times a second for lifecycle events that others have written, and brings the rows up to date. Starts do
// not depend on it (see right.ts); what people and runtimes read does.
import type { CpError } from '../../errors.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import { type FollowingDeps, followNews, newsMemory } from './following.js'

export interface LogWatchDeps extends FollowingDeps {
  random: () => number
  /** Rows that may have changed. */
  onFollowed(ids: readonly string[]): void
  onError(error: CpError): void
}

const IDLE_MS = 250

export function createLogWatch(deps: LogWatchDeps): PollLoop {
  const memory = newsMemory()
  return createPollLoop({
    name: 'subscription log watch',
    clock: deps.clock,
    random: deps.random,
    idleMs: IDLE_MS,
    errorMs: 500,
    errorMsMax: 10_000,
    onError: deps.onError,
    runOnce: async () => {
      const { ids, hasMore, failures } = await followNews(deps, memory)
      for (const error of failures) deps.onError(error)
      if (ids.length > 0) deps.onFollowed(ids)
      return hasMore ? 'busy' : 'idle'
    },
  })
}
