// A live state ↔ the bytes of its snapshot. Compressed if it pays: what travels to the database and lies there is
// then several times smaller. Compressing costs more than everything else together, so a large text must promise
// more than a small one; a sample tells.
import { promisify } from 'node:util'
import { gunzip, gzip, gzipSync } from 'node:zlib'
import { sha256Hex } from '../../../domain/json/canonical.js'
import { parseJson } from '../../../domain/json/parse.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { digestText, type LiveState } from '../../../domain/state/liveState.js'
import { openSealed, type SealFacts, type SnapshotProblem, sealState } from '../../../domain/state/sealedState.js'
import { FOLD_VERSION, workflowStatus } from '../../../domain/state/workflowState.js'
import type { NewStateSnapshot, SnapshotKey, StateSnapshotRow } from '../../../stores/state/stateSnapshotStore.js'

const PLAIN = 'state'
const GZIPPED = 'state+gzip'
const COMPRESS_BYTES_MIN = 4_096
const LARGE_BYTES = 1_000_000
const SAMPLE_BYTES = 64_000
const LARGE_SHARE_MAX = 0.25
const CHUNK_BYTES = 256 * 1024
const STATE_BYTES_MAX = 1_000_000_000

const gzipBytes = promisify(gzip)
const gunzipBytes = promisify(gunzip)

/** What it says is fixed before the first wait, so the state may go on meanwhile. */
export async function packState(live: LiveState, key: SnapshotKey): Promise<NewStateSnapshot> {
  const text = Buffer.from(sealState(live), 'latin1')
  const { version } = live
  const meta: JsonObject = {
    applied_count: live.appliedCount,
    digest: digestText(live.digest),
    fold_version: FOLD_VERSION,
    routing_meta: live.routing === undefined ? null : parseJson(live.routing.value),
    bytes: text.length,
    codec: PLAIN,
  }
  const summary: JsonObject = {
    execution_id: key.executionId,
    state: workflowStatus(live.state),
    steps: live.state.steps.size,
    events: live.appliedCount,
  }
  const checksum = sha256Hex(text)
  // Level 1: three quarters of what the default saves at a quarter of its time.
  const packed = isWorthCompressing(text) ? await gzipBytes(text, { level: 1, chunkSize: CHUNK_BYTES }) : text
  const pays = packed.length < text.length * 0.9
  const codec = pays ? GZIPPED : PLAIN
  return { ...key, version, summary, checksum, meta: { ...meta, codec }, bytes: pays ? packed : text, codec }
}

function isWorthCompressing(text: Buffer): boolean {
  if (text.length < COMPRESS_BYTES_MIN) return false
  if (text.length < LARGE_BYTES) return true
  const middle = text.length >> 1
  const sample = text.subarray(middle, middle + SAMPLE_BYTES)
  return gzipSync(sample, { level: 1 }).length < sample.length * LARGE_SHARE_MAX
}

export async function unpackState(
  row: StateSnapshotRow,
  executionId: string,
  headVersion: number | undefined,
): Promise<LiveState | SnapshotProblem> {
  if (row.snapshot_bytes === null) return 'format'
  let bytes: Uint8Array
  switch (row.snapshot_codec) {
    case PLAIN:
      bytes = row.snapshot_bytes
      break
    case GZIPPED:
      try {
        bytes = await gunzipBytes(row.snapshot_bytes, { maxOutputLength: STATE_BYTES_MAX })
      } catch {
        return 'unreadable'
      }
      break
    default:
      return 'format'
  }
  const facts: SealFacts = { executionId, version: row.version, checksum: row.checksum, meta: row.meta, headVersion }
  return openSealed(bytes, facts)
}
