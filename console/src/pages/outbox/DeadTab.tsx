// What was given up, by reason: what died of the same thing comes back together. Rows can be chosen one by one, too.
import { useEffect, useState } from 'preact/hooks'
import { apiPath, get, getAnswer } from '../../lib/api'
import { ask, hrefOf, query } from '../../lib/router'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Pages } from '../../parts/Pages'
import { Panel } from '../../parts/Panel'
import { Ago } from '../../parts/Time'
import { keyOf, missingOf, type OutboxRows } from './outbox'
import { Requeue, type RequeueScope } from './Requeue'
import { RowDetail } from './RowDetail'
import { RowTable } from './RowTable'

interface Group {
  reason: string
  count: number
  newest_at: string
  /** Of the newest row. */
  shard: number
  outbox_id: string
  execution_id: string | null
}

interface Found {
  groups: Group[]
  failed_shards: number[]
  /** There are more reasons, or more rows than were looked at. */
  more: boolean
}

const GROUPS = '/api/internal/outbox/dead/groups'

export function DeadTab() {
  const reason = query.value.get('reason') ?? undefined
  const isList = reason !== undefined || query.value.get('rows') === 'all'
  return isList ? <DeadRows key={reason} reason={reason} /> : <Groups />
}

function Groups() {
  const groups = useResource(GROUPS, (signal) => get<Found>(GROUPS, signal), { everyMs: 5_000, topics: ['outbox'] })
  const failed = groups.data?.failed_shards ?? []
  return (
    <Panel
      resource={groups}
      missing={failed.length === 0 ? undefined : failed.join(', ')}
      isEmpty={(data) => data.groups.length === 0}
      empty={<p>Nothing was given up: every row is published or on its way.</p>}
    >
      {(data) => (
        <>
          <div class="buttons section">
            <Requeue name="Requeue all" scope={{}} hasKeys onDone={groups.reload} />
            <a href={hrefOf('/outbox', { tab: 'dead', rows: 'all' })}>Choose rows</a>
          </div>
          <div class="scroll">
            <table class="wide rows">
              <thead>
                <tr>
                  <th class="number">Rows</th>
                  <th>Reason</th>
                  <th>Newest</th>
                  <th>Of execution</th>
                  <th class="act">
                    <span class="visually-hidden">What can be done</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {data.groups.map((group) => (
                  <tr key={group.reason}>
                    <td class="number" data-name="Rows">
                      {whole(group.count)}
                    </td>
                    <td class="ellipsis main" title={group.reason}>
                      <a
                        href={hrefOf('/outbox', {
                          tab: 'dead',
                          ...(group.reason === '' ? { rows: 'all' } : { reason: group.reason }),
                        })}
                      >
                        {group.reason === '' ? 'no reason is known' : group.reason}
                      </a>
                    </td>
                    <td>
                      <a href={hrefOfSample(group)} aria-label={`The newest row, ${group.outbox_id}`}>
                        <Ago at={group.newest_at} isPlain />
                      </a>
                    </td>
                    <td>
                      {group.execution_id !== null && (
                        <a class="mono" href={hrefOf(`/executions/${group.execution_id}`)}>
                          {group.execution_id}
                        </a>
                      )}
                    </td>
                    <td class="act">
                      {group.reason !== '' && (
                        <Requeue name="Requeue" scope={{ reason: group.reason }} onDone={groups.reload} />
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {data.more && (
            <p class="muted">
              The {whole(data.groups.length)} most frequent reasons among the oldest rows: more was given up.{' '}
              <i>Choose rows</i> has all of them.
            </p>
          )}
        </>
      )}
    </Panel>
  )
}

function hrefOfSample(group: Group): string {
  const rows = group.reason === '' ? { rows: 'all' } : { reason: group.reason }
  return hrefOf('/outbox', { tab: 'dead', ...rows, row: keyOf(group) })
}

function DeadRows({ reason }: { reason: string | undefined }) {
  const cursor = query.value.get('cursor') ?? undefined
  const row = query.value.get('row')
  const path = apiPath('/api/internal/outbox/dead', { reason, cursor })
  const rows = useResource(path, (signal) => getAnswer<OutboxRows>(path, signal), {
    everyMs: 5_000,
    topics: ['outbox'],
  })
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  useEffect(() => setChosen(new Set()), [path])
  const all: RequeueScope = reason === undefined ? {} : { reason }
  const done = (): void => {
    setChosen(new Set())
    rows.reload()
  }
  return (
    <>
      <div class="buttons section">
        <button
          type="button"
          onClick={() => ask({ reason: undefined, rows: undefined, cursor: undefined, row: undefined })}
        >
          ‹ All reasons
        </button>
        {chosen.size === 0 ? (
          <Requeue
            key="all"
            name={reason === undefined ? 'Requeue all' : 'Requeue these'}
            scope={all}
            hasKeys
            onDone={done}
          />
        ) : (
          <Requeue key="some" name={`Requeue ${chosen.size}`} scope={{ keys: [...chosen] }} hasKeys onDone={done} />
        )}
        <span class="muted ellipsis">{reason ?? 'whatever the reason'}</span>
      </div>
      <div class={row === null ? 'beside' : 'beside open'}>
        <div>
          <Panel
            resource={rows}
            missing={missingOf(rows.data)}
            isEmpty={({ body }) => body.rows.length === 0}
            empty={<p>No dead row has this reason any more.</p>}
          >
            {({ body }) => <RowTable rows={body.rows} chosen={chosen} onChoose={setChosen} />}
          </Panel>
          <Pages cursor={cursor} next={rows.data?.body.next_cursor ?? undefined} />
        </div>
        {row !== null && <RowDetail key={row} row={row} />}
      </div>
    </>
  )
}
