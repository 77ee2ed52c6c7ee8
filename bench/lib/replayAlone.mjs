// The two halves of a replay, each alone: reading the same columns with the same driver, and folding rows that are
// already in memory. Reading is done the fastest way that keeps pages: by key, the next page asked for in advance.
import { createConnection } from '../../dist/db/connection.js'
import { queries } from '../../dist/db/queries.js'
import { answerBytes } from '../../dist/domain/replay/answer.js'
import { createFold } from '../../dist/domain/replay/fold.js'
import { REGISTRY_DIGEST } from '../../dist/domain/replay/registry.js'

const q = queries('replay_page')
const PAGE = 5_000
const DEADLINE_MS = 600_000
const INT64_MAX = 2n ** 63n - 1n

/** The same columns as one page, as an ordinary query would ask for them: JSON columns are read by the driver. */
const PAGE_QUERY = {
  name: 'bench_page',
  text: `${q.replay_page.text.replace('meta::text as meta', 'meta').replace("'reference')::text as", "'reference') as")} limit $8::int`,
}

export async function readAlone(settings, executionId, onPage = () => undefined) {
  const connection = createConnection(settings)
  const ask = (from) =>
    connection.run(PAGE_QUERY, [executionId, from, INT64_MAX, 'default', 'default', null, null, PAGE], DEADLINE_MS)
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
