// Who calls: by a token in the header, else by the cookie of a console session, else nobody in particular. Tokens are
// compared in constant time; two may be valid while one is rotated. Decides nothing about routes.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type ConsoleMode, isAtLeast, lesserOf, type Role } from '../domain/access/roles.js'
import { actorOfToken, openSession } from '../domain/access/sealedSession.js'
import { isFromOwnPage } from './ownCaller.js'

export interface Caller {
  role: Role
  /** As it is written down with what the caller does. */
  actor: string
  /** Known by a token, by a session, or not at all. */
  by: 'token' | 'session' | 'nothing'
  /** Of a session, milliseconds since 1970. */
  expiresAt?: number
}

export interface TokenSettings {
  /** Configured or made here; operators and everything else. */
  internalTokens: readonly string[]
  /** Configured: every call of the public API needs one. */
  apiTokens: readonly string[]
  /** Made by ourselves: good wherever an API token is, and asked for where a write needs one. */
  ownTokens: readonly string[]
  /** Good for reads of the public API. */
  viewerTokens: readonly string[]
  console: ConsoleMode
  /** Milliseconds since 1970. */
  now(): number
}

export const SESSION_COOKIE = 'noetl_session'
/** Each is worth a MAC for each token. */
const COOKIES_MAX = 4
export const NOBODY: Caller = { role: 'none', actor: 'anonymous', by: 'nothing' }

/**
 * A token in the header is the caller's word on who it is, right or wrong: then no cookie counts. Any other scheme is meant for
 * somebody on the way, such as a proxy that asks for a password.
 */
export function identify(headers: IncomingHttpHeaders, settings: TokenSettings): Caller {
  if (/^bearer\b/i.test(headers.authorization ?? '')) return callerOfToken(presentedToken(headers), settings)
  return callerOfCookie(headers, settings) ?? NOBODY
}

/** Nobody, if the token is none of ours. */
export function callerOfToken(token: string | undefined, settings: TokenSettings): Caller {
  if (token === undefined) return NOBODY
  let role: Role = 'none'
  // Every candidate is compared, so the time taken does not tell which one was close.
  for (const [granted, accepted] of grants(settings)) {
    for (const candidate of accepted) {
      if (equalInConstantTime(token, candidate) && isAtLeast(granted, role)) role = granted
    }
  }
  return role === 'none' ? NOBODY : { role, actor: actorOfToken(token), by: 'token' }
}

function grants(settings: TokenSettings): [Role, readonly string[]][] {
  return [
    ['operator', settings.internalTokens],
    ['writer', settings.apiTokens],
    ['writer', settings.ownTokens],
    ['viewer', settings.viewerTokens],
  ]
}

function callerOfCookie(headers: IncomingHttpHeaders, settings: TokenSettings): Caller | undefined {
  // Browsers send it along from other ports of the same machine, too: what those ask for is nobody's.
  if (settings.console === 'off' || !isFromOwnPage(headers)) return undefined
  for (const text of cookiesOf(headers)) {
    const caller = callerOfSession(text, settings)
    if (caller !== undefined) return caller
  }
  return undefined
}

function callerOfSession(text: string, settings: TokenSettings): Caller | undefined {
  for (const [granted, accepted] of grants(settings)) {
    for (const token of accepted) {
      const session = openSession(text, token, settings.now())
      if (session === undefined) continue
      const role = lesserOf(session.role, granted)
      return {
        role: settings.console === 'read-only' ? lesserOf(role, 'viewer') : role,
        actor: session.actor,
        by: 'session',
        expiresAt: session.expiresAt,
      }
    }
  }
  return undefined
}

/** Another port of the machine may have set one of the same name, for a longer path: it comes first and locks nobody out. */
function cookiesOf({ cookie }: IncomingHttpHeaders): string[] {
  const pairs = cookie?.split(';').map((pair) => pair.trim().split('=', 2)) ?? []
  const values = pairs.flatMap(([name, value]) => (name === SESSION_COOKIE && value !== undefined ? [value] : []))
  return values.slice(0, COOKIES_MAX)
}

export function presentedToken(headers: IncomingHttpHeaders): string | undefined {
  return /^bearer +([\x21-\x7e]+) *$/i.exec(headers.authorization ?? '')?.[1]
}

function equalInConstantTime(left: string, right: string): boolean {
  return timingSafeEqual(createHash('sha256').update(left).digest(), createHash('sha256').update(right).digest())
}
