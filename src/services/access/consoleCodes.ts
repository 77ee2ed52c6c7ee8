// One-time codes that log a browser in: made for whoever shows the internal token, good for a minute and for one use. Kept in
// memory, so a code works at the daemon that made it.
import { createHash, randomBytes } from 'node:crypto'
import { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'

export interface ConsoleCodes {
  issue(actor: string): { code: string; expiresInSeconds: number }
  /** The actor for whom it was made; throws when it is unknown, used or too old. */
  redeem(code: string): string
}

const LIFETIME_SECONDS = 60
// Nobody opens so many consoles within a minute; the oldest gives way.
const OPEN_CODES_MAX = 100

export function createConsoleCodes(clock: Pick<Clock, 'monotonic'>): ConsoleCodes {
  // By hash, so that looking one up takes no longer for a code that is nearly right.
  const open = new Map<string, { actor: string; until: number }>()
  return {
    issue: (actor) => {
      const code = randomBytes(24).toString('base64url')
      const [oldest] = open.keys()
      if (open.size >= OPEN_CODES_MAX && oldest !== undefined) open.delete(oldest)
      open.set(hashOf(code), { actor, until: clock.monotonic() + LIFETIME_SECONDS * 1_000 })
      return { code, expiresInSeconds: LIFETIME_SECONDS }
    },
    redeem: (code) => {
      const found = open.get(hashOf(code))
      open.delete(hashOf(code))
      if (found !== undefined && clock.monotonic() < found.until) return found.actor
      throw new CpError(
        'forbidden',
        `the code is not valid: one works once, within ${LIFETIME_SECONDS} s, at the daemon that made it; run "noetl-cp console" again`,
      )
    },
  }
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('base64')
}
