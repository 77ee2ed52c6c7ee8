// What can be told where there is no log to show: who created the execution; or, of an id that is none, what else has it, where
// it would be and which ids come next to it.
import { apiPath, getAnswer } from '../../lib/api'
import { hrefOf } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { Status } from '../../parts/Status'
import { Ago } from '../../parts/Time'
import { entryHref } from '../catalog/entry'

interface Origin {
  shard: number
  shards: number
  created: { at: string; catalog_id: string; path: string | null; parent_execution_id: string | null } | null
  instead: { kind: 'subscription' | 'catalog'; path: string; version: number | null } | null
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
      {({ body: { shard, shards, created, instead, nearest } }) => (
        <section aria-label="Nearest ids">
          {instead !== null && <Instead id={id} thing={instead} />}
          {shards > 1 && instead === null && (
            <p>
              It would be on shard {shard} of {shards}, 0 to {shards - 1}.
            </p>
          )}
          {nearest.length > 0 && <Nearest ids={nearest} />}
          {nearest.length === 0 && created === null && <p>There is no execution at all.</p>}
        </section>
      )}
    </Panel>
  )
}

function Instead({ id, thing: { kind, path, version } }: { id: string; thing: NonNullable<Origin['instead']> }) {
  const isEntry = kind === 'catalog'
  const href = isEntry ? entryHref(path, { version: String(version) }) : hrefOf(`/subscriptions/${id}`)
  return (
    <p>
      It is the id of the {isEntry ? 'catalog entry' : 'subscription'}{' '}
      <a href={href}>
        <bdi>{path}</bdi>
        {isEntry && `@${version}`}
      </a>
      .
    </p>
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
