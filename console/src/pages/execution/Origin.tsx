// What can be told where there is no log to show: who created the execution; or, of an id that nobody knows, where it would be
// and which ids come next to it.
import { apiPath, getAnswer } from '../../lib/api'
import { hrefOf } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { Status } from '../../parts/Status'
import { Ago } from '../../parts/Time'

interface Origin {
  shard: number
  shards: number
  created: { at: string; catalog_id: string; path: string | null; parent_execution_id: string | null } | null
  nearest: { execution_id: string; path: string | null; status: string; created_at: string }[]
}

function useOrigin(id: string) {
  const path = apiPath(`/api/executions/${id}/origin`)
  return useResource(path, (signal) => getAnswer<Origin>(path, signal))
}

/** Its row is there; of its log nothing is. */
export function NoEvents({ id }: { id: string }) {
  return (
    <Panel resource={useOrigin(id)} lines={2}>
      {({ body: { created } }) => (
        <div class="empty">
          <p>
            This execution has no events
            {created !== null && (
              <>
                : it was created <Ago at={created.at} /> by{' '}
                {created.parent_execution_id === null ? (
                  <>
                    a start of <bdi>{created.path ?? `catalog entry ${created.catalog_id}`}</bdi>
                  </>
                ) : (
                  <a href={hrefOf(`/executions/${created.parent_execution_id}`)}>
                    execution {created.parent_execution_id}
                  </a>
                )}
              </>
            )}
            .
          </p>
        </div>
      )}
    </Panel>
  )
}

export function NearestIds({ id }: { id: string }) {
  const origin = useOrigin(id)
  return (
    <Panel resource={origin} missing={origin.data?.headers.get('x-noetl-failed-shards') ?? undefined}>
      {({ body: { shard, shards, nearest } }) => (
        <section aria-label="Nearest ids">
          {shards > 1 && (
            <p>
              It would be on shard {shard} of {shards}, 0 to {shards - 1}.
            </p>
          )}
          {nearest.length === 0 ? <p>There is no execution at all.</p> : <Nearest ids={nearest} />}
        </section>
      )}
    </Panel>
  )
}

function Nearest({ ids }: { ids: Origin['nearest'] }) {
  return (
    <div class="scroll">
      <table class="rows">
        <caption>The nearest ids there are</caption>
        <tbody>
          {ids.map((near) => (
            <tr key={near.execution_id}>
              <td>
                <a class="mono" href={hrefOf(`/executions/${near.execution_id}`)}>
                  {near.execution_id}
                </a>
              </td>
              <td>
                <Status status={near.status} />
              </td>
              <td class="ellipsis" title={near.path ?? undefined}>
                <bdi>{near.path}</bdi>
              </td>
              <td>
                <Ago at={near.created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
