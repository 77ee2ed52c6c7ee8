// What is on file: playbooks, subscriptions and the rest, as a tree by path; one of them in full.
import { isReadOnly } from '../../lib/readOnly'
import { ask, path as place, query } from '../../lib/router'
import { whyNotWriter } from '../../lib/session'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { ActButton } from '../../parts/ActButton'
import { Command } from '../../parts/Command'
import { Panel } from '../../parts/Panel'
import { EntryPage } from './EntryPage'
import { ENTRIES_MAX, entryAt, type Listed, loadPaths } from './entry'
import { NewEntry } from './NewEntry'
import { Tree } from './Tree'

export function Catalog() {
  const at = entryAt(place.value)
  if (at !== undefined) return <EntryPage key={at.path} {...at} />
  return query.value.has('new') && !isReadOnly.value ? <NewEntry /> : <List />
}

function List() {
  const isArchivedShown = query.value.has('archived')
  const list = useResource(`catalog ${isArchivedShown}`, (signal) => loadPaths(isArchivedShown, signal), {
    everyMs: 10_000,
  })
  return (
    <div class="page">
      <div class="run-title">
        <h1>Catalog</h1>
        <span class="buttons">
          <ActButton why={whyNotWriter.value} onClick={() => ask({ new: '1' })}>
            New entry
          </ActButton>
        </span>
      </div>
      <Panel
        resource={list}
        lines={8}
        isEmpty={({ entries }) => entries.length === 0}
        empty={<NoneYet isArchivedShown={isArchivedShown} />}
      >
        {({ entries, hasMore }) => (
          <>
            <Found entries={entries} isArchivedShown={isArchivedShown} />
            {hasMore && (
              <p class="muted">
                The {whole(ENTRIES_MAX)} entries that were registered last were looked at; there are more.
              </p>
            )}
          </>
        )}
      </Panel>
    </div>
  )
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
        <ArchivedToo isShown={isArchivedShown} />
        <input
          type="search"
          class="wide"
          aria-label="Text in the path"
          placeholder="Text in the path"
          value={text}
          onInput={(event) => ask({ q: event.currentTarget.value }, { replace: true })}
        />
      </search>
      {rows.length === 0 ? <p class="empty">No entry matches.</p> : <Tree entries={rows} isNarrowed={text !== ''} />}
    </>
  )
}

function ArchivedToo({ isShown }: { isShown: boolean }) {
  return (
    <button
      type="button"
      class="chip"
      aria-pressed={isShown}
      onClick={() => ask({ archived: isShown ? undefined : '1' })}
    >
      archived, too
    </button>
  )
}

function NoneYet({ isArchivedShown }: { isArchivedShown: boolean }) {
  return (
    <>
      <h2>The catalog is empty</h2>
      <p>
        Register a playbook: <Command words="catalog register examples/hello.yaml" />
      </p>
      {!isReadOnly.value && (
        <p>
          Or write one here with <i>New entry</i>.
        </p>
      )}
      {/* All that was there may have been deleted. */}
      <ArchivedToo isShown={isArchivedShown} />
    </>
  )
}
