// How long the replay fold takes, as a ratio to JSON.parse of the same log's text in the same process.

import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { parseJson } from '../dist/domain/json/parse.js'
import { foldEvents } from '../dist/domain/replay/fold.js'

const REPETITIONS = 7

export default {
  name: 'fold',
  run: async () => {
    const { text, log } = readLog()
    const best = {
      parse: Number.POSITIVE_INFINITY,
      parseLossless: Number.POSITIVE_INFINITY,
      python: Number.POSITIVE_INFINITY,
      cp: Number.POSITIVE_INFINITY,
    }
    let matched = true
    for (let round = 0; round < REPETITIONS; round++) {
      best.parse = Math.min(best.parse, timed(() => JSON.parse(text)).ms)
      best.parseLossless = Math.min(best.parseLossless, timed(() => parseJson(text)).ms)
      const python = timed(() => fold(log, 'python'))
      best.python = Math.min(best.python, python.ms)
      best.cp = Math.min(best.cp, timed(() => fold(log, 'cp')).ms)
      matched &&= python.value.checksum === log.expect.checksum
      for (const [surface, checksum] of Object.entries(log.expect.projection_checksums)) {
        matched &&= python.value.projectionChecksums[surface] === checksum
      }
    }
    if (!matched) throw new Error('the fold does not give the expected checksums')
    const row = (name, ms) => ({
      name,
      value: ms,
      unit: 'ms',
      ratio: ms / best.parse,
      note: 'ratio to JSON.parse of the same text',
    })
    return [
      { name: 'JSON.parse', value: best.parse, unit: 'ms', note: `${log.events.length.toLocaleString('en')} events` },
      row('lossless reader', best.parseLossless),
      { ...row('fold, profile python', best.python), target: '<= 2' },
      { ...row('fold, profile cp', best.cp), target: '<= 2' },
    ]
  },
}

function readLog() {
  const packed = readFileSync(new URL('../test/fixtures/bench-100k.json.gz', import.meta.url))
  // The file tags numbers that JSON.parse would spoil; the text of a real log has them bare.
  const text = gunzipSync(packed)
    .toString('utf8')
    .replace(/\{"\$(?:int|float)":"([^"]+)"\}/g, '$1')
  const log = parseJson(text)
  return { text, log }
}

function timed(run) {
  const start = performance.now()
  const value = run()
  return { ms: performance.now() - start, value }
}

function fold(log, profile) {
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
