// kind: artifact. Puts data away and gets it back: in the result store, or in a file of the data folder.
import { createHash, randomUUID } from 'node:crypto'
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { parseJson } from '../domain/json/parse.js'
import type { JsonObject, JsonValue } from '../domain/json/value.js'
import { writeJson } from '../domain/json/write.js'
import { fieldOf, requiredText, scalarText, textField } from '../domain/tool/configFields.js'
import { ToolFailure } from '../domain/tool/toolFailure.js'
import type { ResultStore } from './run/resultStore.js'
import type { DataFolder } from './script/dataFolder.js'
import type { Tool, ToolRun } from './tool.js'

const TIMEOUT_SECONDS = 120
const BYTES_MAX = 64 * 1024 * 1024
const FORMATS: readonly string[] = ['json', 'text', 'base64']

export function createArtifactTool(folder: DataFolder, results: ResultStore): Tool {
  return {
    timeoutSeconds: TIMEOUT_SECONDS,
    run: async (run) => {
      const action = textField(run.config, 'action') ?? 'get'
      if (action === 'get') return { data: await get(run, folder, results) }
      if (action === 'put') return { data: await put(run, folder, results) }
      throw new ToolFailure('config', `action ${action} is neither get nor put`)
    },
  }
}

async function get({ config, args, signal }: ToolRun, folder: DataFolder, results: ResultStore): Promise<JsonObject> {
  const uri = requiredText({ ...args, ...config }, 'artifact', 'uri', 'path', 'result_ref', 'ref')
  if (uri.startsWith('noetl://')) return { uri, data: await results.get(uri, signal) }
  const path = await folder.existing(withoutScheme(uri))
  const { size } = await stat(path)
  if (size > BYTES_MAX) throw new ToolFailure('schema', `${uri} is larger than ${BYTES_MAX} bytes`)
  const bytes = await readFile(path, { signal })
  return { uri, bytes: bytes.length, sha256: sha256(bytes), data: decoded(bytes, formatOf(config, uri), uri) }
}

async function put(run: ToolRun, folder: DataFolder, results: ResultStore): Promise<JsonObject> {
  const { config, args, command, signal } = run
  const data = fieldOf({ ...args, ...config }, 'data', 'content') ?? null
  const uri = textField(config, 'uri', 'path')
  if (uri === undefined) {
    const name = run.label ?? command.step
    const stored = await results.put({ executionId: command.executionId, name, data, step: command.step }, signal)
    return { ...stored, uri: stored['ref'] ?? null }
  }
  const bytes = encoded(data, formatOf(config, uri))
  if (bytes.length > BYTES_MAX) throw new ToolFailure('schema', `the data is larger than ${BYTES_MAX} bytes`)
  await writeWhole(await folder.writable(withoutScheme(uri)), bytes)
  return { uri, bytes: bytes.length, sha256: sha256(bytes) }
}

/** Readers see the old file or the new one, never a part. */
async function writeWhole(path: string, bytes: Buffer): Promise<void> {
  // Its own, whoever else writes the same file at this moment, from here or from another machine.
  const beside = `${path}.${randomUUID()}.new`
  const file = await open(beside, 'wx')
  try {
    await file.writeFile(bytes)
    await file.sync()
    await file.close()
    await rename(beside, path)
  } catch (error) {
    await file.close()
    await rm(beside, { force: true })
    throw error
  }
}

function withoutScheme(uri: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(uri) && !uri.startsWith('file://')) {
    throw new ToolFailure('unsupported', `${uri.slice(0, 60)} is neither a file of the data folder nor a stored result`)
  }
  return uri
}

function formatOf(config: JsonObject, uri: string): string {
  const format = textField(config, 'format')
  if (format === undefined) return uri.endsWith('.json') ? 'json' : 'text'
  if (FORMATS.includes(format)) return format
  throw new ToolFailure('config', `format ${format} is none of ${FORMATS.join(', ')}`)
}

function encoded(data: JsonValue, format: string): Buffer {
  if (format === 'json') return Buffer.from(writeJson(data))
  return Buffer.from(scalarText(data), format === 'base64' ? 'base64' : 'utf8')
}

function decoded(bytes: Buffer, format: string, uri: string): JsonValue {
  if (format === 'base64') return bytes.toString('base64')
  const text = bytes.toString('utf8')
  if (format === 'text') return text
  try {
    return parseJson(text)
  } catch (error) {
    throw new ToolFailure('parse', `${uri} is not JSON: ${(error as Error).message}`, { cause: error })
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
