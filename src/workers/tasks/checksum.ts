// The canonical checksum of a JSON text: equal documents have equal checksums whatever their key order
// or spacing. For documents too large to canonicalise on the main loop.
import { canonicalChecksum } from '../../domain/json/canonical.js'
import { parseJson } from '../../domain/json/parse.js'

export function checksum(input: { text: string }): { checksum: string } {
  return { checksum: canonicalChecksum(parseJson(input.text)) }
}
