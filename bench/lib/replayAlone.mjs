// The two halves of a replay, each alone: reading the same columns with the same driver, and folding rows that are
// already in memory. Reading is done the fastest way that keeps pages: by key, the next page asked for in advance.
import { createConnection } from '../../dist/db/connection.js'
import { answerBytes } from '../../dist/domain/replay/answer.js'
import { createFold } from '../../dist/domain/replay/fold.js'
import { REGISTRY_DIGEST } from '../../dist/domain/replay/schemaLabel.js'

const PAGE = 5_000
const DEADLINE_MS = 600_000

/** The same columns as an ordinary query asks for them; JSON columns are read by the driver. */
const PAGE_QUERY = {
  name: 'bench_page',
  text: `select event_id, event_type, status, node_name, worker_id, stage_id, frame_id, command_id, meta,
      coalesce(nullif(payload_ref, 'null'::jsonb), result -> 'reference') as payload_ref, aggregate_type, aggregate_id
    from noetl.event
    where execution_id = $1::bigint and event_id >= $2::bigint and tenant_id = $3::text and organization_id = $4::text
    order by event_id
    limit $5::int`,
}

export async function readAlone(settings, executionId, onPage = () => undefined) {
  const connection = createConnection(settings)
  const ask = (from) => connection.run(PAGE_QUERY, [executionId, from, 'default', 'default', PAGE], DEADLINE_MS)
  const started = performance.now()
  let count = 0
  let next = ask(0n)
  for (;;) {
    const rows = await next
    count += rows.length
    if (rows.length === PAGE) next = ask(BigInt(rows[rows.length - 1].event_id) + 1n)
    onPage(rows)
    if (rows.length < PAGE) break
  }
  const ms = performance.now() - started
  await connection.close(1_000)
  return { ms, count }
}

/** Only the time of the fold counts; rows are read page by page so that memory stays what it is. */
export async function foldAlone(settings, executionId) {
  const fold = createFold({
    profile: 'cp',
    tenantId: 'default',
    organizationId: 'default',
    executionId: BigInt(executionId),
    projection: 'all',
    upcasterRegistryDigest: REGISTRY_DIGEST,
    keepText: true,
  })
  let ms = 0
  await readAlone(settings, executionId, (rows) => {
    const started = performance.now()
    for (let index = 0; index < rows.length; index++) fold.add(rows[index])
    ms += performance.now() - started
  })
  const started = performance.now()
  const result = fold.finish()
  const { bytes } = answerBytes(
    result,
    { truncated: false, nextEventId: null },
    { profile: 'cp', remarks: 'whenNeeded', ids: 'number', redact: false, resolvePayloads: false },
  )
  ms += performance.now() - started
  return { ms, checksum: result.checksum, bytes: bytes.byteLength }
}
