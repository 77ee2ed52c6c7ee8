// What people did: who, what, why, and how it ended.
import { apiPath, get } from '../../lib/api'
import { ask, hrefOf, query } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { Status, type StatusKind } from '../../parts/Status'
import { Ago } from '../../parts/Time'

interface Entry {
  id: string
  at: string
  actor: string
  role: string
  via: string
  action: string
  target_kind: string | null
  target_id: string | null
  reason: string | null
  request: unknown
  outcome: 'intent' | 'done' | 'refused' | 'failed'
  error: string | null
}

const KINDS: Readonly<Record<Entry['outcome'], StatusKind>> = {
  done: 'completed',
  refused: 'cancelled',
  failed: 'failed',
  intent: 'waiting',
}

const FILTERS = [
  ['actor', 'Who'],
  ['action', 'What, such as outbox'],
  ['target', 'Id it is about'],
] as const

export function Activity() {
  const asked = Object.fromEntries(
    [...FILTERS.map(([name]) => name), 'cursor'].map((name) => [name, query.value.get(name) ?? undefined]),
  )
  const path = apiPath('/api/activity', asked)
  const activity = useResource(path, (signal) => get<{ activity: Entry[]; next_cursor: string | null }>(path, signal), {
    everyMs: 5_000,
    topics: ['activity'],
  })
  const isFiltered = Object.values(asked).some((value) => value !== undefined)
  const next = activity.data?.next_cursor ?? undefined
  return (
    <div class="page">
      <h1>Activity</h1>
      <search class="filters">
        {FILTERS.map(([name, label]) => (
          <input
            key={`${name} ${asked[name] ?? ''}`}
            type="search"
            aria-label={label}
            placeholder={label}
            defaultValue={asked[name] ?? ''}
            onChange={(event) => ask({ [name]: event.currentTarget.value.trim(), cursor: undefined })}
          />
        ))}
      </search>
      <Panel
        resource={activity}
        lines={8}
        isEmpty={(data) => data.activity.length === 0}
        empty={
          <p>
            Nobody has done anything {isFiltered ? 'that matches' : 'yet'}: what is done here and by operators is
            written down.
          </p>
        }
      >
        {(data) => <Entries entries={data.activity} />}
      </Panel>
      {next !== undefined && (
        <nav class="pages" aria-label="Pages">
          <button type="button" onClick={() => ask({ cursor: next })}>
            Load older
          </button>
        </nav>
      )}
    </div>
  )
}

function Entries({ entries }: { entries: readonly Entry[] }) {
  return (
    <div class="scroll">
      <table class="wide rows">
        <thead>
          <tr>
            <th>When</th>
            <th>Who</th>
            <th>What</th>
            <th>About</th>
            <th>Reason</th>
            <th>Outcome</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.id}>
              <td>
                <Ago at={entry.at} />
              </td>
              <td class="ellipsis step" title={`${entry.actor} ${entry.role}, ${entry.via}`}>
                {entry.actor}{' '}
                <span class="muted">
                  {entry.role}, {entry.via}
                </span>
              </td>
              <td title={JSON.stringify(entry.request)}>{entry.action}</td>
              <td class="ellipsis step" title={entry.target_id ?? undefined}>
                <Target entry={entry} />
              </td>
              <td class="ellipsis main" title={entry.reason ?? undefined}>
                {entry.reason}
              </td>
              <td class={entry.error === null ? '' : 'prose'}>
                <Status status={entry.outcome === 'intent' ? 'unknown' : entry.outcome} kind={KINDS[entry.outcome]} />
                {entry.error !== null && <span class="failed"> {entry.error}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Target({ entry: { target_kind: kind, target_id: id } }: { entry: Entry }) {
  if (id === null) return <span class="muted">–</span>
  if (kind !== 'execution' && kind !== 'subscription') {
    return (
      <>
        {kind} <code class="whole">{id}</code>
      </>
    )
  }
  return (
    <>
      {kind}{' '}
      <a class="mono" href={hrefOf(`/${kind}s/${id}`)}>
        {id}
      </a>
    </>
  )
}
