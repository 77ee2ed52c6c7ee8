// One row with its message, beside the list, until it is closed.
import { apiPath } from '../../lib/api'
import { useKeys } from '../../lib/keys'
import { ask } from '../../lib/router'
import { LargeJson, useBegun } from '../../parts/LargeJson'
import { Panel } from '../../parts/Panel'

export function RowDetail({ row }: { row: string }) {
  const [, shard = '0', id = row] = /^(\d+)-(\d+)$/.exec(row) ?? []
  const path = apiPath(`/api/internal/outbox/rows/${encodeURIComponent(id)}`, { shard })
  const detail = useBegun(path)
  const close = (): void => ask({ row: undefined })
  useKeys({ Escape: close })
  return (
    <aside class="detail" aria-label="Row">
      <div class="detail-head">
        <h2>Row {id}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={close}>
          ✕
        </button>
      </div>
      <Panel resource={detail}>
        {(begun) => <LargeJson path={path} name={`outbox-row-${row}.json`} begun={begun} />}
      </Panel>
    </aside>
  )
}
