// Reads what a replayed state refers to, in the thread of the replay: stored results (ours, and those of the NoETL server in
// an adopted database) and addresses of hosts that are listed. One payload after the other, each within its bytes, all
// within their bytes and their time. Whatever cannot be read is an answer with the reason, never an error.
import { gunzipSync } from 'node:zlib'
import { type Connection, createConnection } from '../../../db/connection.js'
import type { Queryable } from '../../../db/db.js'
import { parseJson } from '../../../domain/json/parse.js'
import type { JsonValue } from '../../../domain/json/value.js'
import type { PayloadAnswer, PayloadRequest } from '../../../domain/replay/payloadResolution.js'
import { type ResultRef, resultRefOf, resultSealPlace } from '../../../domain/results/resultRef.js'
import { createKeyring } from '../../../domain/secrets/keyring.js'
import { redact } from '../../../domain/secrets/redact.js'
import { secretRules } from '../../../domain/secrets/secretNames.js'
import { shardOf } from '../../../domain/shards/shards.js'
import { toCpError } from '../../../errors.js'
import { type BoundedResult, getResultPlace, getResultWithin } from '../../../stores/results/resultStore.js'
import { createPayloadFetch, type FetchSettings } from '../../outbox/inThread/payloadFetch.js'
import { openSettings, type WorkerDatabase } from './database.js'

export interface PayloadSources {
  /** Each database once. */
  databases: readonly WorkerDatabase[]
  /** Which of them: by shard, and that of the cluster. */
  shards: readonly number[]
  cluster: number
  /** Open sealed results. */
  secretKeys: readonly string[]
  /** Further names of secrets. */
  secretNames: readonly string[]
  /** `bytesMax`: of one payload. */
  fetch: FetchSettings
  /** Of all payloads together. */
  bytesMax: number
  timeoutMs: number
}

export interface PayloadReader {
  read(request: PayloadRequest): Promise<PayloadAnswer>
  close(): Promise<void>
}

const CLOSE_MS = 1_000
// Not enough to ask anybody.
const LEAST_MS = 10
const HTTP = /^https?:\/\//i

export function openPayloads(sources: PayloadSources, replayLeftMs: number): PayloadReader {
  const { fetch: limits } = sources
  // A replay that ends in time with a gap in its report is worth more than one that does not end.
  const timeMs = Math.min(sources.timeoutMs, replayLeftMs / 2)
  const endsAt = performance.now() + timeMs
  const leftMs = (): number => Math.max(1, Math.ceil(endsAt - performance.now()))
  const isOver = (): boolean => leftMs() < LEAST_MS
  const connections = new Map<number, Connection>()
  let bytesLeft = sources.bytesMax

  async function readResult(locator: string, ref: ResultRef, bytesMax: number): Promise<PayloadAnswer> {
    const home = sources.shards[shardOf(ref.executionId, sources.shards.length)]!
    // The NoETL server keeps its results in the database of the cluster.
    for (const place of new Set([home, sources.cluster])) {
      const db = databaseAt(place)
      const row = await getResultWithin(db, ref.executionId, ref.resultId, bytesMax)
      if (row !== undefined) return taken(Number(row.bytes), bytesMax, () => resultValue(row, ref, sources))
      const elsewhere = await getResultPlace(db, locator)
      if (elsewhere !== undefined) {
        const { store_tier: tier, physical_uri: uri } = elsewhere
        if (uri !== null && HTTP.test(uri)) return readUrl(uri, bytesMax)
        return { error: `it is kept in the store "${tier}" of the NoETL server, which is not read from here` }
      }
    }
    return { error: 'there is no such result: it expired, or went with its execution' }
  }

  async function readUrl(url: string, bytesMax: number): Promise<PayloadAnswer> {
    const fetched = await createPayloadFetch({ ...limits, bytesMax })(url, leftMs())
    if (fetched.kind !== 'found') return { error: fetched.reason }
    return taken(fetched.bytes.length, bytesMax, () => parseText(fetched.bytes))
  }

  function taken(bytes: number, bytesMax: number, read: () => JsonValue): PayloadAnswer {
    if (bytes > bytesMax) return { error: tooLarge(bytes, bytesMax, limits.bytesMax) }
    bytesLeft -= bytes
    return { value: read() }
  }

  async function read({ locator }: PayloadRequest): Promise<PayloadAnswer> {
    if (isOver()) return { error: TIME_IS_OVER }
    const bytesMax = Math.min(limits.bytesMax, bytesLeft)
    const ref = resultRefOf(locator)
    try {
      if (ref !== undefined) return await readResult(locator, ref, bytesMax)
      if (HTTP.test(locator)) return await readUrl(locator, bytesMax)
      return { error: 'it is neither a stored result nor an http address: nothing here can read it' }
    } catch (error) {
      if (isOver()) return { error: TIME_IS_OVER }
      return { error: toCpError(error).message }
    }
  }

  function databaseAt(index: number): Queryable {
    const connection = connections.get(index) ?? createConnection(openSettings(sources.databases[index]!))
    connections.set(index, connection)
    return { run: (query, values = []) => connection.run(query, values, leftMs()) }
  }

  return {
    read,
    close: async () => {
      await Promise.all(Array.from(connections.values(), (connection) => connection.close(CLOSE_MS)))
    },
  }
}

const TIME_IS_OVER = 'not read: the time for payloads is over (NOETL_CP_REPLAY_PAYLOAD_TIMEOUT)'

function tooLarge(bytes: number, bytesMax: number, each: number): string {
  const setting = 'NOETL_CP_REPLAY_PAYLOAD_LIMIT_MB'
  if (bytesMax < each) return `not read: the payloads before it have taken the bytes for all of them (${setting})`
  return `not read: it has ${bytes} bytes, more than ${each} (${setting})`
}

/** A result with secrets in it is measured without them: a checksum of a short secret gives it away. */
function resultValue(row: BoundedResult, ref: ResultRef, sources: PayloadSources): JsonValue {
  const data = row.data!
  if (typeof data === 'string') return parseJson(data)
  const packed = row.is_sealed
    ? createKeyring(sources.secretKeys).open(Buffer.from(data).toString('utf8'), resultSealPlace(ref))
    : data
  const value = parseText(gunzipSync(packed, { maxOutputLength: Math.max(1, Number(row.bytes)) }))
  return row.is_sealed ? redact(value, secretRules(sources.secretNames)) : value
}

function parseText(bytes: Uint8Array): JsonValue {
  return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
}
