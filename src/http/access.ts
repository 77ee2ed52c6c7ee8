// Decides who may call what: by the route's access and effect, and by who calls. An API without a token is open to programs
// of this machine, never to web pages of other places.
import type { IncomingHttpHeaders } from 'node:http'
import { isAtLeast, type Role } from '../domain/access/roles.js'
import { CpError } from '../errors.js'
import { type Caller, identify, presentedToken, type TokenSettings } from './callers.js'
import { isFromBrowser, type OriginSettings, requireOwnCaller, requireOwnHost, requireOwnPage } from './ownCaller.js'
import type { RouteSpec } from './route.js'

export interface AccessSettings extends TokenSettings, OriginSettings {
  /** Asked with every write: it becomes true when the first credential is stored. */
  writesNeedToken(): boolean
}

export type GuardedRoute = Pick<RouteSpec, 'access' | 'effect'>

/** Answers who calls, or throws why that one may not. */
export function checkAccess(route: GuardedRoute, headers: IncomingHttpHeaders, settings: AccessSettings): Caller {
  const caller = withOpenRights(identify(headers, settings), headers, settings)
  const isOpenApi = settings.apiTokens.length === 0
  if (route.access === 'page') {
    if (settings.console === 'off') throw new CpError('not_found', 'there is no console here: NOETL_CP_CONSOLE is off')
    if (isOpenApi) requireOwnHost(headers, settings)
    return caller
  }
  if (route.access === 'open') {
    if (isOpenApi && settings.isLocal) requireOwnCaller(headers, settings)
    return caller
  }
  if (route.access === 'internal') {
    requireInternalTokens(settings)
    if (caller.by !== 'token' || caller.role !== 'operator') throw tokenRefusal(headers)
    return caller
  }
  if (route.access === 'operator') requireInternalTokens(settings)
  if (isOpenApi) requireOwnCaller(headers, settings)
  const wanted: Role = route.access === 'operator' ? 'operator' : route.effect === 'write' ? 'writer' : 'viewer'
  if (!isAtLeast(caller.role, wanted)) throw refusal(caller, wanted, headers, settings)
  if (caller.by === 'session' && route.effect === 'write') requireOwnPage(headers)
  return caller
}

/** What an API without a token lets everybody do who may call it at all. */
function withOpenRights(caller: Caller, headers: IncomingHttpHeaders, settings: AccessSettings): Caller {
  if (caller.by !== 'nothing' || settings.apiTokens.length > 0) return caller
  const mayWrite = !settings.writesNeedToken() && !isReadOnlyPage(headers, settings)
  return { ...caller, role: mayWrite ? 'writer' : 'viewer' }
}

/** Programs of this machine go on as before; a page cannot write by leaving its cookie out. */
function isReadOnlyPage(headers: IncomingHttpHeaders, settings: AccessSettings): boolean {
  return settings.console === 'read-only' && isFromBrowser(headers, settings)
}

function requireInternalTokens({ internalTokens }: AccessSettings): void {
  if (internalTokens.length > 0) return
  throw new CpError('unavailable', 'internal routes are closed: NOETL_INTERNAL_API_TOKEN is not set')
}

function refusal(caller: Caller, wanted: Role, headers: IncomingHttpHeaders, settings: AccessSettings): CpError {
  if (caller.by === 'session' || (caller.by === 'nothing' && isReadOnlyPage(headers, settings))) {
    const limit = settings.console === 'read-only' ? '; the console is read-only here (NOETL_CP_CONSOLE)' : ''
    return new CpError('forbidden', `this needs the role ${wanted}, and you have the role ${caller.role}${limit}`)
  }
  if (caller.by === 'token') {
    const needed = wanted === 'operator' ? 'NOETL_INTERNAL_API_TOKEN' : 'NOETL_API_TOKEN or NOETL_INTERNAL_API_TOKEN'
    return new CpError('forbidden', `this token has the role ${caller.role}, which may not do this; use ${needed}`)
  }
  if (wanted === 'operator') {
    return new CpError(
      'forbidden',
      `this needs the role operator: log in with "noetl-cp console", or send the header "Authorization: Bearer <token>" with the internal token; ${WHERE_TOKENS_ARE}`,
    )
  }
  const hasTokens = settings.ownTokens.length + settings.internalTokens.length + settings.apiTokens.length > 0
  if (hasTokens) return tokenRefusal(headers)
  return new CpError(
    'forbidden',
    'writes need a token here, because code can be started or a credential is stored; set NOETL_API_TOKEN and start again',
  )
}

const WHERE_TOKENS_ARE =
  'it is what the daemon was given (NOETL_API_TOKEN, NOETL_INTERNAL_API_TOKEN), or made itself and keeps in secrets.json of its data folder'

function tokenRefusal(headers: IncomingHttpHeaders): CpError {
  return presentedToken(headers) === undefined
    ? new CpError('forbidden', `send the header "Authorization: Bearer <token>"; ${WHERE_TOKENS_ARE}`)
    : new CpError('forbidden', `the token is not valid here; ${WHERE_TOKENS_ARE}`)
}
