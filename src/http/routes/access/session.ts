// Sessions of the console: a one-time code or a token becomes a cookie, once. The token itself is never kept in the browser.
import { CONSOLE_MODES, type ConsoleMode, ROLES, type Role } from '../../../domain/access/roles.js'
import { sealSession } from '../../../domain/access/sealedSession.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import type { Clock } from '../../../runtime/clock.js'
import type { ConsoleCodes } from '../../../services/access/consoleCodes.js'
import { type Caller, callerOfToken, SESSION_COOKIE, type TokenSettings } from '../../callers.js'
import { requireOwnPage } from '../../ownCaller.js'
import type { RouteSpec } from '../../route.js'
import { answerOf, COUNT, FLAG, type Schema, TEXT, TEXT_OR_NULL } from '../../schema.js'

export interface SessionRouteDeps {
  sessions: {
    tokens: TokenSettings
    codes: ConsoleCodes
    clock: Clock
    /** The cookie is for encrypted connections alone. */
    isSecure: boolean
    /** Of the instance. */
    mode: string
    /** How commands are called where the daemon runs, with {} in place of their words. */
    call: string
  }
}

const LIFETIME_SECONDS = 12 * 3_600
/** As it is written down with every act. */
const ACTOR: Schema = { type: 'string', minLength: 1, maxLength: 64 }

const SESSION = answerOf({
  role: { type: 'string', enum: ROLES, description: 'none: a login is needed' },
  actor: TEXT,
  by: { type: 'string', enum: ['token', 'session', 'nothing'] },
  expires_at: TEXT_OR_NULL,
  read_only: FLAG,
  console: { type: 'string', enum: CONSOLE_MODES },
  mode: { type: 'string', description: 'of the instance: embedded, with servers of its own, or production' },
  call: { type: 'string', description: 'how a command is called where the daemon runs, {} in place of its words' },
})

export function sessionRoutes({ sessions }: SessionRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/console/session',
      summary: 'Log a browser in: a one-time code or a token becomes the cookie of a session',
      access: 'open',
      effect: 'read',
      showsAll: true,
      body: {
        type: 'object',
        properties: {
          code: { type: 'string', maxLength: 100, description: 'of POST /api/internal/console/code' },
          token: { type: 'string', maxLength: 4_096 },
          actor: {
            ...ACTOR,
            description:
              'with a token: who says to act, kept beside the first digits of its hash: "Ada (token-1a2b3c4d)"',
          },
        },
      },
      responses: { 200: SESSION, 403: 'the code or token is not valid, or the call is not from a page of the console' },
      handler: async ({ body, headers }) => {
        const { tokens, clock, isSecure } = sessions
        requireConsole(tokens.console)
        requireOwnPage(headers)
        const { token, role, actor } = login(sessions, body as JsonObject)
        const expiresAt = clock.now() + LIFETIME_SECONDS * 1_000
        const caller: Caller = { role: capped(role, tokens.console), actor, by: 'session', expiresAt }
        return {
          body: shown(caller, sessions),
          headers: {
            'cache-control': 'no-store',
            'set-cookie': cookie(sealSession({ role, actor, expiresAt }, token), LIFETIME_SECONDS, isSecure),
          },
        }
      },
    },
    {
      method: 'DELETE',
      path: '/console/session',
      summary: 'Log the browser out',
      access: 'open',
      effect: 'read',
      responses: { 200: answerOf({ ok: FLAG }), 403: 'the call is not from a page of the console' },
      handler: async ({ headers }) => {
        requireOwnPage(headers)
        return { body: { ok: true }, headers: { 'set-cookie': cookie('', 0, sessions.isSecure) } }
      },
    },
    {
      method: 'GET',
      path: '/api/session',
      summary: 'Who is calling, and what the caller may do',
      access: 'open',
      effect: 'read',
      // An actor that is named after its token looks like a secret and is none.
      showsAll: true,
      responses: { 200: SESSION },
      handler: async ({ caller }) => ({
        body: shown(caller, sessions),
        headers: { 'cache-control': 'no-store' },
      }),
    },
    {
      method: 'POST',
      path: '/api/internal/console/code',
      summary: 'A one-time code that logs a browser in as an operator',
      access: 'internal',
      effect: 'write',
      body: { type: 'object', properties: { actor: { ...ACTOR, description: 'who will act' } } },
      bodyOptional: true,
      // The code is what is asked for.
      showsAll: true,
      responses: {
        200: answerOf({ code: TEXT, expires_in_seconds: COUNT, path: TEXT }, 'open `path` within that time'),
        404: 'there is no console here',
      },
      handler: async ({ body, caller }) => {
        requireConsole(sessions.tokens.console)
        const { actor = caller.actor } = (body ?? {}) as { actor?: string }
        const { code, expiresInSeconds } = sessions.codes.issue(nameOf(actor))
        return {
          body: { code, expires_in_seconds: expiresInSeconds, path: `/console/#code=${code}` },
          headers: { 'cache-control': 'no-store' },
        }
      },
    },
  ]
}

/** The token that the session lives and dies with, and what it may do. */
function login(
  { tokens, codes }: SessionRouteDeps['sessions'],
  body: JsonObject,
): { token: string; role: Role; actor: string } {
  const { code, token, actor } = body as { code?: string; token?: string; actor?: string }
  if ((code === undefined) === (token === undefined)) {
    throw new CpError('invalid_input', 'send either code or token')
  }
  if (code !== undefined) {
    const owner = codes.redeem(code)
    // A code is only ever made for the internal token.
    const [inForce] = tokens.internalTokens
    if (inForce === undefined) throw new CpError('forbidden', 'there is no token for operators any more')
    return { token: inForce, role: 'operator', actor: owner }
  }
  const caller = callerOfToken(token, tokens)
  if (caller.role === 'none') throw new CpError('forbidden', 'the token is not valid here')
  // Nobody has proven the name: whoever has the token could give any, so the token stands beside it.
  const named = actor === undefined ? caller.actor : `${nameOf(actor)} (${caller.actor})`
  return { token: token as string, role: caller.role, actor: named }
}

function requireConsole(mode: ConsoleMode): void {
  if (mode === 'off') throw new CpError('not_found', 'there is no console here: NOETL_CP_CONSOLE is off')
}

function capped(role: Role, mode: ConsoleMode): Role {
  return mode === 'read-only' ? 'viewer' : role
}

function shown(
  { role, actor, by, expiresAt }: Caller,
  { tokens, mode, call }: SessionRouteDeps['sessions'],
): JsonObject {
  return {
    role,
    actor,
    by,
    expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
    read_only: tokens.console === 'read-only',
    console: tokens.console,
    mode,
    // Where things lie on this machine is nobody's business who has not logged in.
    call: role === 'none' ? 'noetl-cp {}' : call,
  }
}

/** One line, nothing that a terminal would obey, and nothing that looks as if we had added it. */
function nameOf(given: string): string {
  const name = given.trim()
  if (/^[^\p{C}\p{Zl}\p{Zp}()]+$/u.test(name)) return name
  throw new CpError('invalid_input', 'actor must be one line of text without control characters and parentheses')
}

function cookie(value: string, maxAgeSeconds: number, isSecure: boolean): string {
  return `${SESSION_COOKIE}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
}
