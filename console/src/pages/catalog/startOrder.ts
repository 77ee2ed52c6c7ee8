// The start of an execution as a form has it: the request, and the same as a command.
import { LosslessNumber } from 'lossless-json'
import { type Json, jsonLine } from '../../lib/losslessJson'
import type { Order } from '../../parts/SameAct'
import type { EntryHead } from './entry'

type Workload = { [key: string]: Json }

export type StartRequest = {
  path: string
  version: string
  payload: Workload
  labels?: Record<string, string>
  dedup?: { key: string; window_secs: LosslessNumber }
}

/** So long a key counts. */
const KEY_SECONDS = new LosslessNumber('300')

export function requestOf(
  entry: EntryHead,
  workload: Workload,
  { key, labels }: { key: string; labels: string },
): StartRequest {
  const pairs = labels.split(/\s+/).flatMap((text) => (text === '' ? [] : [splitLabel(text)]))
  return {
    path: entry.path,
    version: String(entry.version),
    payload: workload,
    ...(pairs.length === 0 ? {} : { labels: Object.fromEntries(pairs) }),
    ...(key.trim() === '' ? {} : { dedup: { key: key.trim(), window_secs: KEY_SECONDS } }),
  }
}

/** Without a value it is sent as it is: the server says what is wrong with it. */
function splitLabel(text: string): [string, string] {
  const at = text.indexOf('=')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

export function startOrder(request: StartRequest): Order {
  const { path, version, payload, labels = {}, dedup } = request
  return {
    cli: [
      ...['execution', 'start', path, '--entry-version', version],
      ...(Object.keys(payload).length === 0 ? [] : ['--payload', jsonLine(payload)]),
      ...Object.entries(labels).flatMap(([name, value]) => ['--label', `${name}=${value}`]),
      ...(dedup === undefined ? [] : ['--dedup-key', dedup.key, '--dedup-window', dedup.window_secs.value]),
    ],
    path: '/api/execute',
    body: jsonLine(request),
  }
}
