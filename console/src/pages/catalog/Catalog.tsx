// What is on file: playbooks, subscriptions and the rest, by path; one of them in full.
import { ask, path as place, query } from '../../lib/router'
import { whyNotWriter } from '../../lib/session'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { CopyText } from '../../parts/CopyText'
import { Panel } from '../../parts/Panel'
import { Ago } from '../../parts/Time'
import { EntryPage } from './EntryPage'
import { ENTRIES_MAX, type EntryHead, entryHref, loadEntries } from './entry'
import { NewEntry } from './NewEntry'

export function Catalog() {
  const path = /^\/catalog\/(.+)$/.exec(place.value)?.[1]
  if (path !== undefined) return <EntryPage key={path} path={path.split('/').map(decodeURIComponent).join('/')} />
  return query.value.has('new') ? <NewEntry /> : <List />
}

/** A path with how many versions it has; the newest stands for it. */
interface Listed extends EntryHead {
  versions: number
}

function List() {
  const isArchivedShown = query.value.has('archived')
  const list = useResource(`catalog ${isArchivedShown}`, () => loadEntries({ include_archived: isArchivedShown }), {
    everyMs: 10_000,
  })
  return (
    <div class="page">
      <div class="run-title">
        <h1>Catalog</h1>
        <span class="buttons">
          <button
            type="button"
            disabled={whyNotWriter.value !== undefined}
            title={whyNotWriter.value}
            onClick={() => ask({ new: '1' })}
          >
            New entry
          </button>
        </span>
      </div>
      <Panel resource={list} lines={8} isEmpty={({ entries }) => entries.length === 0} empty={<NoneYet />}>
        {({ entries, hasMore }) => (
          <>
            <Found entries={listedOf(entries)} isArchivedShown={isArchivedShown} />
            {hasMore && <p class="muted">The newest {whole(ENTRIES_MAX)} versions were looked at; there are more.</p>}
          </>
        )}
      </Panel>
    </div>
  )
}

function listedOf(entries: readonly EntryHead[]): Listed[] {
  const byPath = new Map<string, Listed>()
  for (const entry of entries) {
    const known = byPath.get(entry.path)
    if (known === undefined) byPath.set(entry.path, { ...entry, versions: 1 })
    else byPath.set(entry.path, { ...(known.version < entry.version ? entry : known), versions: known.versions + 1 })
  }
  return [...byPath.values()].sort((left, right) => (left.path < right.path ? -1 : 1))
}

function Found({ entries, isArchivedShown }: { entries: readonly Listed[]; isArchivedShown: boolean }) {
  const kind = query.value.get('kind')
  const text = query.value.get('q') ?? ''
  const kinds = [...new Set(entries.map((entry) => entry.kind))].sort()
  const rows = entries.filter(
    (entry) => (kind === null || entry.kind === kind) && entry.path.toLowerCase().includes(text.toLowerCase()),
  )
  return (
    <>
      <search class="filters">
        {kinds.map((one) => (
          <button
            key={one}
            type="button"
            class="chip"
            aria-pressed={kind === one}
            onClick={() => ask({ kind: kind === one ? undefined : one })}
          >
            {one}
          </button>
        ))}
        <button
          type="button"
          class="chip"
          aria-pressed={isArchivedShown}
          onClick={() => ask({ archived: isArchivedShown ? undefined : '1' })}
        >
          archived, too
        </button>
        <input
          type="search"
          class="wide"
          aria-label="Text in the path"
          placeholder="Text in the path"
          value={text}
          onInput={(event) => ask({ q: event.currentTarget.value }, { replace: true })}
        />
      </search>
      {rows.length === 0 ? <p class="empty">No entry matches.</p> : <Rows rows={rows} />}
    </>
  )
}

function Rows({ rows }: { rows: readonly Listed[] }) {
  return (
    <div class="scroll">
      <table class="wide rows">
        <thead>
          <tr>
            <th>Path</th>
            <th>Kind</th>
            <th class="number">Newest</th>
            <th class="number">Versions</th>
            <th>Registered</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.path}>
              <td class="ellipsis main">
                <a href={entryHref(row.path)}>{row.path}</a>
                {row.archived_at !== null && <span class="muted"> archived</span>}
              </td>
              <td>{row.kind}</td>
              <td class="number">@{row.version}</td>
              <td class="number">{whole(row.versions)}</td>
              <td>
                <Ago at={row.created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function NoneYet() {
  return (
    <>
      <h2>The catalog is empty</h2>
      <p>
        Register a playbook: <CopyText text="noetl-cp catalog register examples/hello.yaml" />
      </p>
      <p>
        Or write one here with <i>New entry</i>.
      </p>
    </>
  )
}
