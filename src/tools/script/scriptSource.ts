// Code that is not written into the playbook: `script` as a text, or {uri, source {type inline|file|http, …}}.
import { readFile, stat } from 'node:fs/promises'
import { isJsonObject, type JsonObject } from '../../domain/json/value.js'
import { fieldOf, mapField, requiredText, secondsField, textField } from '../../domain/tool/configFields.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import { withinTime } from '../timeLimit.js'
import type { ToolRun } from '../tool.js'
import type { DataFolder } from './dataFolder.js'

/** The body of an address, as text. */
export type FetchText = (config: JsonObject, auth: JsonObject | undefined, signal: AbortSignal) => Promise<string>

export interface ScriptSource {
  /** Undefined when the configuration names no script. */
  read(run: ToolRun): Promise<string | undefined>
}

const FETCH_SECONDS = 30
const FILE_BYTES_MAX = 4 * 1024 * 1024

export function createScriptSource(folder: DataFolder, fetchText: FetchText): ScriptSource {
  return {
    read: async (run) => {
      const script = fieldOf(run.config, 'script')
      if (script === undefined) return undefined
      if (typeof script === 'string') return script
      if (!isJsonObject(script)) throw new ToolFailure('config', 'script must be a text or a map')
      const source = mapField(script, 'source') ?? {}
      const uri = textField(script, 'uri')
      const type = textField(source, 'type') ?? guessedType(uri, source)
      switch (type) {
        case 'inline':
          return requiredText({ ...script, ...source }, 'an inline script', 'code')
        case 'file':
          return readFileText(folder, textField(source, 'path') ?? uri ?? '')
        case 'http':
          return fetchScript(run, source, uri, fetchText)
        default:
          throw new ToolFailure('unsupported', `scripts of type ${type} are not read here; use inline, file or http`)
      }
    },
  }
}

function guessedType(uri: string | undefined, source: JsonObject): string {
  if (uri?.startsWith('http://') === true || uri?.startsWith('https://') === true) return 'http'
  return source['code'] === undefined ? 'file' : 'inline'
}

async function readFileText(folder: DataFolder, path: string): Promise<string> {
  const found = await folder.existing(path)
  const about = await stat(found)
  if (!about.isFile()) throw new ToolFailure('config', `${path} is not a file`)
  if (about.size > FILE_BYTES_MAX) throw new ToolFailure('config', `${path} is larger than ${FILE_BYTES_MAX} bytes`)
  return readFile(found, 'utf8')
}

async function fetchScript(
  run: ToolRun,
  source: JsonObject,
  uri: string | undefined,
  fetchText: FetchText,
): Promise<string> {
  const endpoint = textField(source, 'endpoint', 'url')
  const url = endpoint === undefined ? uri : uri === undefined || isAddress(uri) ? endpoint : joined(endpoint, uri)
  const config: JsonObject = {
    url: url ?? '',
    method: textField(source, 'method') ?? 'GET',
    headers: mapField(source, 'headers') ?? {},
  }
  const auth = await run.auth.fieldsOf(fieldOf(source, 'auth', 'credential'), 'http')
  const ms = (secondsField(source, 'timeout') ?? FETCH_SECONDS) * 1000
  return withinTime({ parent: run.signal, ms, what: 'fetching the script' }, (signal) =>
    fetchText(config, auth, signal),
  )
}

function isAddress(text: string): boolean {
  return /^https?:\/\//.test(text)
}

/** An endpoint that names the script already, or a base for its uri. */
function joined(endpoint: string, uri: string): string {
  return endpoint.endsWith(uri) ? endpoint : `${endpoint.replace(/(?<!\/)\/+$/, '')}/${uri.replace(/^\/+/, '')}`
}
