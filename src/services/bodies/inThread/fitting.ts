// One of many in a body has the limit that it would have alone.
import { CpError } from '../../../errors.js'

export function assertFits(texts: readonly (string | undefined)[], limitBytes: number, place: string): void {
  let bytes = 0
  for (const text of texts) if (text !== undefined) bytes += Buffer.byteLength(text)
  if (bytes <= limitBytes) return
  throw new CpError(
    'too_large',
    `${place} is larger than the ${Math.floor(limitBytes / 1_048_576)} MB that one may have (NOETL_CP_EVENT_LIMIT_MB); nothing was written`,
  )
}
