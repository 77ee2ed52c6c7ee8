// The configuration of an HTTP tool as a request: method, address, headers, body. Authors write the body in many ways;
// here they become one.

import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { writeJson } from '../json/write.js'
import { fieldOf, mapField, requiredText, scalarText, textField } from './configFields.js'
import { ToolFailure } from './toolFailure.js'

export interface HttpRequest {
  readonly method: string
  readonly url: URL
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer | undefined
  /** Headers that are for this origin alone. */
  readonly credentialHeaders: ReadonlySet<string>
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
/** With these, `data` means parameters. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD'])
const CREDENTIAL_HEADERS = ['authorization', 'cookie', 'proxy-authorization', 'x-api-key', 'x-auth-token'] as const
const FORM_TYPE = 'application/x-www-form-urlencoded'

export function readHttpRequest(config: JsonObject, auth: JsonObject | undefined): HttpRequest {
  const method = (textField(config, 'method') ?? 'GET').trim().toUpperCase()
  if (!METHODS.has(method)) throw new ToolFailure('config', `method ${method} is none of ${[...METHODS].join(', ')}`)
  const url = parseUrl(requiredText(config, 'http', 'url', 'endpoint').trim())
  const headers = readHeaders(mapField(config, 'headers'))
  const data = splitData(config['data'], method)
  addParams(url, fieldOf(config, 'params'))
  addParams(url, data.query)
  const withoutAuth = new Set(headers.keys())
  if (auth !== undefined) applyAuth(auth, url, headers)
  const added = [...headers.keys()].filter((name) => !withoutAuth.has(name))
  const body = readBody(config, data.body, headers)
  return { method, url, headers, body, credentialHeaders: new Set([...CREDENTIAL_HEADERS, ...added]) }
}

function parseUrl(text: string): URL {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new ToolFailure(
      'config',
      `url ${JSON.stringify(text.slice(0, 100))} is not an address such as https://host/path`,
    )
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ToolFailure('config', `url must start with http:// or https://, not ${url.protocol}//`)
  }
  return url
}

function readHeaders(source: JsonObject | undefined): Map<string, string> {
  const headers = new Map<string, string>()
  for (const [name, value] of Object.entries(source ?? {})) {
    if (value !== null) headers.set(name.toLowerCase(), scalarText(value))
  }
  return headers
}

/** `{query, body}` is both; otherwise it is one of them, by the method. */
function splitData(data: JsonValue | undefined, method: string): { query?: JsonValue; body?: JsonValue } {
  if (data === undefined || data === null) return {}
  if (isJsonObject(data)) {
    const keys = Object.keys(data)
    if (keys.length > 0 && keys.every((key) => key === 'query' || key === 'body')) return data
    if (WITHOUT_BODY.has(method)) return { query: data }
  }
  return { body: data }
}

/** A list repeats its name; null is left out. */
function addParams(url: URL, params: JsonValue | undefined): void {
  if (typeof params === 'string') {
    for (const [name, value] of new URLSearchParams(params)) url.searchParams.append(name, value)
  } else if (isJsonObject(params)) {
    for (const [name, value] of formPairs(params)) url.searchParams.append(name, value)
  }
}

function* formPairs(map: JsonObject): Generator<[string, string]> {
  for (const [name, value] of Object.entries(map)) {
    for (const item of Array.isArray(value) ? value : [value]) if (item !== null) yield [name, scalarText(item)]
  }
}

function readBody(config: JsonObject, data: JsonValue | undefined, headers: Map<string, string>): Buffer | undefined {
  const form = fieldOf(config, 'form')
  if (form !== undefined) return encoded(form, headers, FORM_TYPE)
  const json = fieldOf(config, 'json')
  if (json !== undefined) return typed(writeJson(json), headers, 'application/json')
  const body = fieldOf(config, 'payload', 'body') ?? data
  return body === undefined || body === null ? undefined : encoded(body, headers, undefined)
}

function encoded(body: JsonValue, headers: Map<string, string>, fallback: string | undefined): Buffer {
  const isForm = (headers.get('content-type') ?? fallback ?? '').startsWith(FORM_TYPE)
  if (isForm && isJsonObject(body)) {
    return typed(new URLSearchParams([...formPairs(body)]).toString(), headers, FORM_TYPE)
  }
  if (typeof body === 'string') return typed(body, headers, fallback ?? 'text/plain; charset=utf-8')
  return typed(writeJson(body), headers, 'application/json')
}

function typed(text: string, headers: Map<string, string>, type: string): Buffer {
  if (!headers.has('content-type')) headers.set('content-type', type)
  return Buffer.from(text)
}

function applyAuth(auth: JsonObject, url: URL, headers: Map<string, string>): void {
  const text = (...names: string[]): string | undefined => textField(auth, ...names)
  const type = (text('type') ?? '').toLowerCase()
  const token = text('token', 'access_token', 'bearer_token', 'bearer')
  const username = text('username', 'user', 'login')
  if (type === 'api_key' || (type === '' && token === undefined && text('key', 'api_key') !== undefined)) {
    const key = text('key', 'api_key', 'value', 'token')
    if (key === undefined) throw new ToolFailure('credential', 'the api_key credential has no key')
    const parameter = text('query', 'param')
    if (parameter !== undefined) url.searchParams.set(parameter, key)
    else headers.set((text('header', 'header_name') ?? 'X-API-Key').toLowerCase(), key)
  } else if (headers.has('authorization')) {
    return
  } else if (token !== undefined && type !== 'basic') {
    headers.set('authorization', `Bearer ${token}`)
  } else if (username !== undefined) {
    const pair = `${username}:${text('password', 'pass') ?? ''}`
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`)
  } else {
    const known = 'bearer {token}, basic {username, password} or api_key {header | query, key}'
    throw new ToolFailure('credential', `auth has neither token, username nor key; http knows ${known}`)
  }
}
