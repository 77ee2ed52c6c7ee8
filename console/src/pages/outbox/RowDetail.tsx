// One row with its message, beside the list.
import { apiPath } from '../../lib/api'
import { ask } from '../../lib/router'
import { LargeJson, useBegun } from '../../parts/LargeJson'
import { Panel } from '../../parts/Panel'

export function RowDetail({ row }: { row: string }) {
  const [, shard = '0', id = row] = /^(\d+)-(\d+)$/.exec(row) ?? []
  const path = apiPath(`/api/internal/outbox/rows/${id}`, { shard })
  const detail = useBegun(path)
  return (
    <aside class="detail" aria-label="Row">
      <div class="detail-head">
        <h2>Row {id}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={() => ask({ row: undefined })}>
          ✕
        </button>
      </div>
      <Panel resource={detail}>
        {(begun) => <LargeJson path={path} name={`outbox-row-${row}.json`} begun={begun} />}
      </Panel>
    </aside>
  )
}
