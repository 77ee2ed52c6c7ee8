// One row with its message, beside the list.
import { apiPath } from '../../lib/api'
import { getJson } from '../../lib/losslessJson'
import { ask } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { JsonView } from '../../parts/JsonView'
import { Panel } from '../../parts/Panel'

export function RowDetail({ row }: { row: string }) {
  const [, shard = '0', id = row] = /^(\d+)-(\d+)$/.exec(row) ?? []
  const path = apiPath(`/api/internal/outbox/rows/${id}`, { shard })
  const detail = useResource(path, (signal) => getJson(path, signal))
  return (
    <aside class="detail" aria-label="Row">
      <div class="detail-head">
        <h2>Row {id}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={() => ask({ row: undefined })}>
          ✕
        </button>
      </div>
      <Panel resource={detail}>{(value) => <JsonView value={value} />}</Panel>
    </aside>
  )
}
