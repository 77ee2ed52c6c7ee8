// How long the replay fold takes, as a ratio to JSON.parse of the same log's text in the same process.
// Prints one line of JSON. Needs a build: `npm run build`, then `node bench/fold.mjs [repetitions]`.

import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { parseJson } from '../dist/domain/json/parse.js'
import { foldEvents } from '../dist/domain/replay/fold.js'

const repetitions = Number(process.argv[2] ?? 7)
const packed = readFileSync(new URL('../test/fixtures/bench-100k.json.gz', import.meta.url))
// The file tags numbers that JSON.parse would spoil; the text of a real log has them bare.
const text = gunzipSync(packed)
  .toString('utf8')
  .replace(/\{"\$(?:int|float)":"([^"]+)"\}/g, '$1')
const log = parseJson(text)

function timed(run) {
  const start = performance.now()
  const value = run()
  return { ms: performance.now() - start, value }
}

function fold(profile) {
  const options = {
    profile,
    tenantId: log.tenant_id,
    organizationId: log.organization_id,
    executionId: log.execution_id,
    projection: log.projection,
    upcasterRegistryDigest: log.upcaster_registry_digest,
  }
  const result = foldEvents(options, log.events)
  // The document is made on demand; it belongs to the answer, so its time counts.
  return { ...result, documentKeys: Object.keys(result.state).length }
}

const best = {
  parse: Number.POSITIVE_INFINITY,
  parseLossless: Number.POSITIVE_INFINITY,
  python: Number.POSITIVE_INFINITY,
  cp: Number.POSITIVE_INFINITY,
}
let matched = true
for (let round = 0; round < repetitions; round++) {
  best.parse = Math.min(best.parse, timed(() => JSON.parse(text)).ms)
  best.parseLossless = Math.min(best.parseLossless, timed(() => parseJson(text)).ms)
  const python = timed(() => fold('python'))
  best.python = Math.min(best.python, python.ms)
  best.cp = Math.min(best.cp, timed(() => fold('cp')).ms)
  matched &&= python.value.checksum === log.expect.checksum
  for (const [surface, checksum] of Object.entries(log.expect.projection_checksums)) {
    matched &&= python.value.projectionChecksums[surface] === checksum
  }
}

const round2 = (value) => Math.round(value * 100) / 100
console.log(
  JSON.stringify({
    events: log.events.length,
    repetitions,
    matched,
    jsonParseMs: round2(best.parse),
    parseJsonMs: round2(best.parseLossless),
    foldMs: round2(best.python),
    foldCpMs: round2(best.cp),
    ratio: round2(best.python / best.parse),
    ratioCp: round2(best.cp / best.parse),
  }),
)
