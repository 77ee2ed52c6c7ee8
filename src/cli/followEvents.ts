// Follows the events of an execution over HTTP (server-sent events). A connection that breaks is made again from where it
// stopped, until the daemon stays away for too long.
import { parseJson } from '../domain/json/parse.js'
import { isJsonObject, type JsonObject } from '../domain/json/value.js'
import { CpError, messageOf } from '../errors.js'
import type { Clock } from '../runtime/clock.js'
import type { ApiClient } from './apiClient.js'
import { readLines } from './lines.js'

const AWAY_MS_MAX = 30_000
const RETRY_MS = 500

export interface FollowOptions {
  api: ApiClient
  executionId: string
  clock: Clock
  signal: AbortSignal
  /** Begin behind this event; default at the first. */
  afterVersion?: string
  /** Stop when what is there has been read, though the execution goes on. */
  untilQuiet?: boolean
}

/** Answers the status at the end; undefined when the signal came first. */
export async function followEvents(
  options: FollowOptions,
  onEvent: (event: JsonObject) => void,
): Promise<string | undefined> {
  const { api, executionId, clock, signal } = options
  let last = options.afterVersion ?? '0'
  let heardAt = clock.monotonic()
  while (!signal.aborted) {
    try {
      const query = `after_version=${last}${options.untilQuiet === true ? '&follow=false' : ''}`
      const body = await api.stream(`/api/executions/${executionId}/events/stream?${query}`, signal)
      for await (const { id, name, data } of readServerSentEvents(body)) {
        heardAt = clock.monotonic()
        if (name === 'end') return String(data['status'])
        onEvent(data)
        if (id !== undefined) last = id
      }
      if (options.untilQuiet === true) return undefined
    } catch (error) {
      if (signal.aborted) return undefined
      if (error instanceof CpError && error.code !== 'unavailable') throw error
      if (clock.monotonic() - heardAt > AWAY_MS_MAX) {
        throw new CpError(
          'unavailable',
          `the daemon has not answered for ${AWAY_MS_MAX / 1_000} s (${messageOf(error)}); the execution may go on, see "noetl-cp execution show ${executionId}"`,
          { cause: error },
        )
      }
    }
    await clock.sleep(RETRY_MS, signal)
  }
  return undefined
}

interface Received {
  id: string | undefined
  name: string | undefined
  data: JsonObject
}

/** Every event of ours is one line of data after its id and name. */
async function* readServerSentEvents(body: AsyncIterable<Uint8Array>): AsyncIterable<Received> {
  let id: string | undefined
  let name: string | undefined
  for await (const { text } of readLines(buffers(body))) {
    if (text === undefined) continue
    if (text.startsWith('id: ')) id = text.slice('id: '.length)
    else if (text.startsWith('event: ')) name = text.slice('event: '.length)
    else if (text.startsWith('data: ')) {
      const data = parseJson(text.slice('data: '.length))
      if (isJsonObject(data)) yield { id, name, data }
      id = undefined
      name = undefined
    }
  }
}

async function* buffers(body: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> {
  for await (const piece of body) yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
}
