// Whether a caller takes an answer that was pressed with gzip.
import type { IncomingHttpHeaders } from 'node:http'

/** `gzip;q=0` is a no. */
export function acceptsGzip({ 'accept-encoding': accepted = '' }: IncomingHttpHeaders): boolean {
  return String(accepted)
    .split(',')
    .some((coding) => /^\s*gzip\s*(?:;(?!\s*q\s*=\s*0(?:\.0*)?\s*$)|$)/i.test(coding))
}
