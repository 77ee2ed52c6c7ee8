// Promise: the few numbers that status takes from /metrics are read right, and strange lines do no harm.
import { expect, it } from 'vitest'
import { largest, parseGauges, total, totalsBy } from '../../src/cli/daemonGauges.js'

const TEXT = `# HELP noetl_cp_outbox_rows Rows.
# TYPE noetl_cp_outbox_rows gauge
noetl_cp_outbox_rows{status="PENDING",shard="shard0"} 3
noetl_cp_outbox_rows{status="PENDING",shard="a \\"quoted\\" one"} 4
noetl_cp_outbox_rows{status="DEAD",shard="shard0"} 0
noetl_cp_worker_threads 2
noetl_cp_strange NaN

broken {
`

it('sums over labels and by one label', () => {
  const gauges = parseGauges(TEXT)
  expect(total(gauges, 'noetl_cp_outbox_rows')).toBe(7)
  expect(totalsBy(gauges, 'noetl_cp_outbox_rows', 'status')).toEqual({ PENDING: 7, DEAD: 0 })
  expect(total(gauges, 'noetl_cp_worker_threads')).toBe(2)
  expect(total(gauges, 'noetl_cp_missing')).toBeUndefined()
  expect(largest(gauges, 'noetl_cp_outbox_rows')).toBe(4)
  expect(largest(gauges, 'noetl_cp_missing')).toBeUndefined()
  expect(gauges.get('noetl_cp_strange')).toBeUndefined()
})
