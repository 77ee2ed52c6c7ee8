// A console session as the text of a cookie: expiry, role and actor, with a MAC under a key that comes from the token of the
// login. Nothing is stored: every daemon with that token accepts it, and it dies with the token. Whoever knows a token could
// make such a text, so it never grants more than the token itself.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { ROLES, type Role } from './roles.js'

export interface Session {
  role: Role
  actor: string
  /** Milliseconds since 1970. */
  expiresAt: number
}

const VERSION = 'v1'
// Far more than a session needs: what is longer is not worth a MAC.
const TEXT_MAX = 1_000

export function sealSession(session: Session, token: string): string {
  const payload = Buffer.from(JSON.stringify([session.expiresAt, session.role, session.actor])).toString('base64url')
  return `${VERSION}.${payload}.${mac(payload, token).toString('base64url')}`
}

/** Undefined unless it was sealed with this token and has not expired. */
export function openSession(text: string, token: string, now: number): Session | undefined {
  if (text.length > TEXT_MAX) return undefined
  const [version, payload, seal, ...rest] = text.split('.')
  if (version !== VERSION || payload === undefined || seal === undefined || rest.length > 0) return undefined
  const given = Buffer.from(seal, 'base64url')
  const right = mac(payload, token)
  if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined
  // Sealed by us: it has our shape.
  const [expiresAt, role, actor] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [number, Role, string]
  return expiresAt > now && ROLES.includes(role) ? { role, actor, expiresAt } : undefined
}

function mac(payload: string, token: string): Buffer {
  const key = createHash('sha256').update(`noetl-cp console session ${VERSION}\n${token}`).digest()
  return createHmac('sha256', key).update(payload).digest()
}

/** How a token is named where it acts: enough to tell two apart, nothing to use. Behind a colon it would be hidden as one. */
export function actorOfToken(token: string): string {
  return `token-${createHash('sha256').update(token).digest('hex').slice(0, 8)}`
}
