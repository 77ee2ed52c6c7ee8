// Knows whether any credential is stored, because from then on writes need a token. Looks before the API opens and
// every few seconds after; whoever stores one in this process says so at once. While no database has answered yet, and
// while one that may hold some does not answer, the careful answer stands.
import type { Databases } from '../../db/databases.js'
import { toCpError } from '../../errors.js'
import { createPollLoop, type LoopOptions } from '../../runtime/loop.js'
import type { Service } from '../../runtime/service.js'
import { holdsCredentials } from '../../stores/credentials/credentialStore.js'

export interface CredentialWatch extends Service {
  hasCredentials(): boolean
  /** A credential was stored just now. */
  stored(): void
}

export type CredentialWatchDeps = Pick<LoopOptions, 'clock' | 'random' | 'onError'> & { databases: Databases }

const LOOK_MS = 5_000

export function createCredentialWatch({ databases, clock, random, onError }: CredentialWatchDeps): CredentialWatch {
  let known = true
  async function look(): Promise<'idle'> {
    const answers = await Promise.allSettled(databases.all.map(({ db }) => holdsCredentials(db)))
    const failed = answers.find((answer) => answer.status === 'rejected')
    if (answers.some((answer) => answer.status === 'fulfilled' && answer.value)) known = true
    else if (failed === undefined) known = false
    if (failed !== undefined) throw failed.reason
    return 'idle'
  }
  const loop = createPollLoop({
    name: 'credential watch',
    clock,
    random,
    onError,
    runOnce: look,
    idleMs: LOOK_MS,
    errorMs: LOOK_MS,
    errorMsMax: LOOK_MS,
  })
  return {
    name: loop.name,
    start: async () => {
      await look().catch((error: unknown) => onError(toCpError(error), 1))
      await loop.start()
    },
    stop: (deadlineMs) => loop.stop(deadlineMs),
    hasCredentials: () => known,
    stored: () => {
      known = true
    },
  }
}
