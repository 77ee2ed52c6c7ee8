// The beginning of a document that may be large: no more of it is fetched than is shown.
import { fetchOwn } from './api'

const HEAD_BYTES = 256 * 1_024

export interface Head {
  text: string
  isCut: boolean
  /** Not all events are in this state. */
  isPartial: boolean
}

export function readHead(path: string, signal: AbortSignal): Promise<Head> {
  return fetchOwn('GET', path, { signal }, headOf)
}

async function headOf(response: Response): Promise<Head> {
  const isPartial = response.headers.get('x-noetl-truncated') === 'true'
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let left = HEAD_BYTES
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return { text: text + decoder.decode(), isCut: false, isPartial }
    text += decoder.decode(value.subarray(0, left), { stream: true })
    left -= value.length
    if (left < 0) {
      await reader.cancel()
      return { text, isCut: true, isPartial }
    }
  }
}
