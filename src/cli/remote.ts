// Commands over HTTP: with --url a command speaks to that daemon alone and needs no database. What cannot be asked that
// way says why.
import { ApiError, type Client, createClient } from '../client/index.js'
import { parseJson } from '../domain/json/parse.js'
import { Float, type JsonValue } from '../domain/json/value.js'
import { writeJson } from '../domain/json/write.js'
import { CpError } from '../errors.js'
import { codeOfStatus } from './apiClient.js'
import type { CommandContext } from './command.js'

export type RemoteClient = Pick<Client, 'call' | 'ask'>

/** Undefined: the command works on the database, as usual. */
export function remoteClient(context: CommandContext): RemoteClient | undefined {
  const { remoteUrl: url, remoteToken: token } = context.config().config
  return url === undefined ? undefined : clientOf(url, token)
}

export function clientOf(url: string, token: string | undefined): RemoteClient {
  const client = createClient({
    url,
    token,
    json: { read: parseJson, write: (value) => writeJson(value as JsonValue) },
  })
  return {
    call: (name, options) => client.call(name, options).catch(asOurs),
    ask: (name, options) => client.ask(name, options).catch(asOurs),
  }
}

/** Asks the daemon of --url, or else works on the database. */
export function thereOrHere<T>(
  context: CommandContext,
  there: (remote: RemoteClient) => Promise<T>,
  here: () => Promise<T>,
): Promise<T> {
  const remote = remoteClient(context)
  return remote === undefined ? here() : there(remote)
}

function asOurs(error: unknown): never {
  if (!(error instanceof ApiError)) throw error
  throw new CpError(codeOfStatus(error.status), `${error.message}${adviceOf(error.status)}`, { cause: error })
}

function adviceOf(status: number): string {
  return status === 401 || status === 403 ? '; a token that may is given with the option --token' : ''
}

export function notOverHttp(commandName: string, reason = 'it works on the database'): CpError {
  return new CpError('refused', `"${commandName}" does not work over --url: ${reason}`)
}

/** A number of an answer, of either kind. */
export function numberOf(value: unknown): number {
  return value instanceof Float ? value.value : Number(value)
}

/** Leaves out what has no value, so that a body or query holds only what was asked for. */
export function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined | null> } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== null),
  ) as never
}

/** As many rows as were asked for, from pages that a daemon keeps short. */
export async function collectPages<Row, Cursor>(
  limit: number,
  first: Cursor | undefined,
  read: (cursor: Cursor | undefined, limit: number) => Promise<{ rows: Row[]; next: Cursor | undefined }>,
): Promise<{ rows: Row[]; next: Cursor | undefined }> {
  const rows: Row[] = []
  let next = first
  do {
    const page = await read(next, limit - rows.length)
    rows.push(...page.rows)
    next = page.next
  } while (next !== undefined && rows.length < limit)
  return { rows, next }
}
