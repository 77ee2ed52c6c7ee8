// The store of results that are too large for an event: compressed, beside their execution, gone with it. What has secrets in
// it is sealed, and opened only for the engine, for workers and for whoever has the internal token.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Databases } from '../../db/databases.js'
import { wireTimeFromPostgres } from '../../domain/events/wireTime.js'
import { noSuchExecution } from '../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { parseJson } from '../../domain/json/parse.js'
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { parseResultRef, type ResultRef, resultRef, resultSealPlace } from '../../domain/results/resultRef.js'
import type { Keyring } from '../../domain/secrets/keyring.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import { CpError, toCpError } from '../../errors.js'
import { getExecution } from '../../stores/executions/executionStore.js'
import { getAdoptedResult, getResult, putResult } from '../../stores/results/resultStore.js'
import type { ResultStore } from '../../tools/run/resultStore.js'
import type { Ids } from '../ids/ids.js'
import type { Packed } from './inThread/resultBytes.js'

export interface ResultsDeps {
  databases: Databases
  ids: Pick<Ids, 'next'>
  keyring: Keyring
  /** Of one execution, as they are stored. */
  quotaBytes: number
  /** Of one result. */
  bytesMax: number
  /** The tasks of that name, in a thread. */
  packResult(body: Uint8Array): Promise<Packed>
  unpackResult(data: Uint8Array, how: { isPacked: boolean; isShown: boolean }): Promise<{ bytes: Uint8Array }>
}

/** `body`: `{name, data, scope?, source_step?, ttl_seconds?}` as JSON. Answers what a worker is told. */
export async function storeResult(deps: ResultsDeps, executionId: ExecutionId, body: Uint8Array): Promise<JsonObject> {
  if (body.length > deps.bytesMax) {
    throw new CpError(
      'too_large',
      `a result of ${body.length} bytes exceeds ${deps.bytesMax} (NOETL_CP_RESULT_LIMIT_MB)`,
    )
  }
  const packed = await deps.packResult(body)
  const resultId = deps.ids.next()
  const isSealed = packed.hasSecrets && deps.keyring.sealingKeyId !== undefined
  const db = deps.databases.of(executionId)
  const { name, scope, sourceStep, ttlSeconds, bytes, sha256 } = packed
  const data = isSealed
    ? Buffer.from(deps.keyring.seal(packed.data, resultSealPlace({ executionId, resultId })))
    : packed.data
  const row = { executionId, resultId, name, scope, sourceStep, data, isSealed, bytes, sha256, ttlSeconds }
  const written = await putResult(db, row, deps.quotaBytes)
  if (written === undefined) {
    if ((await getExecution(db, executionId)) === undefined) throw noSuchExecution(executionId)
    throw new CpError(
      'too_large',
      `execution ${executionId} has results of ${Math.round(deps.quotaBytes / 1_048_576)} MB, and there is no room for ${Math.ceil(data.length / 1024)} KB more (NOETL_CP_RESULT_QUOTA_MB)`,
    )
  }
  const { expires_at: expires } = written
  return {
    ref: resultRef(executionId, name, resultId),
    store: 'db',
    scope,
    bytes,
    sha256,
    expires_at: expires === null ? null : wireTimeFromPostgres(expires, 'expires_at'),
  }
}

/** JSON text in UTF-8. `isShown`: without secrets. */
export async function resolveResult(deps: ResultsDeps, refText: string, isShown: boolean): Promise<Uint8Array> {
  const ref = parseResultRef(refText)
  const packed = await readPacked(deps, ref)
  if (packed !== undefined) return (await deps.unpackResult(packed, { isPacked: true, isShown })).bytes
  const adopted = await readAdopted(deps, ref)
  if (adopted === undefined) {
    throw new CpError('not_found', `the result ${refText} is gone: it expired, or went with its execution`)
  }
  return (await deps.unpackResult(Buffer.from(adopted), { isPacked: false, isShown })).bytes
}

type ReadDeps = Pick<ResultsDeps, 'databases' | 'keyring'>

async function readPacked(deps: ReadDeps, { executionId, resultId }: ResultRef): Promise<Uint8Array | undefined> {
  const row = await getResult(deps.databases.of(executionId), executionId, resultId)
  if (row === undefined || !row.is_sealed) return row?.data
  return deps.keyring.open(Buffer.from(row.data).toString('utf8'), resultSealPlace({ executionId, resultId }))
}

async function readAdopted(deps: ReadDeps, { executionId, resultId }: ResultRef): Promise<string | undefined> {
  const { databases } = deps
  for (const db of new Set([databases.of(executionId), databases.cluster.db])) {
    const text = await getAdoptedResult(db, executionId, resultId)
    if (text !== undefined) return text
  }
  return undefined
}

const gunzipBytes = promisify(gunzip)

/** For decisions; undefined: it can never be had. */
export async function readResultText(deps: ReadDeps, refText: string): Promise<string | undefined> {
  try {
    const ref = parseResultRef(refText)
    const packed = await readPacked(deps, ref)
    if (packed === undefined) return await readAdopted(deps, ref)
    return (await gunzipBytes(packed)).toString('utf8')
  } catch (error) {
    const { code } = toCpError(error)
    // Damaged, or no reference at all. A key that is missing may come back.
    if (code === 'invalid_input' || code === 'corrupt' || code === 'internal') return undefined
    throw error
  }
}

/** For the built-in worker. */
export function createResultStore(deps: ResultsDeps): ResultStore {
  return {
    get: async (ref): Promise<JsonValue> => {
      const text = await readResultText(deps, ref)
      if (text === undefined) throw new ToolFailure('storage', `the result ${ref} is gone: it expired, or was damaged`)
      return parseJson(text)
    },
    put: async ({ executionId, name, data, step }) => {
      try {
        const body = Buffer.from(writeJson({ name, data, source_step: step }))
        return await storeResult(deps, executionId as ExecutionId, body)
      } catch (error) {
        const { code, message } = toCpError(error)
        if (code !== 'too_large' && code !== 'not_found') throw error
        throw new ToolFailure('storage', message, { cause: error })
      }
    },
  }
}
