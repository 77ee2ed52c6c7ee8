// The versions of an entry, newest first, and what is different between the one that is shown and another: below a list that
// stays low, however many there are.
import { useState } from 'preact/hooks'
import { ask, query } from '../../lib/router'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { Ago } from '../../parts/Time'
import { Difference } from './Difference'
import { type Entry, type EntryHead, type EntryList, entryHref, loadEntry } from './entry'

/** Of many the newest, until all are asked for. */
const SHOWN_MAX = 100

interface VersionsTabProps {
  entry: Entry
  versions: EntryList<EntryHead>
}

export function VersionsTab({ entry, versions: { entries, hasMore } }: VersionsTabProps) {
  const [isWhole, setWhole] = useState(false)
  const sorted = [...entries].sort((left, right) => right.version - left.version)
  // Numbers of versions that were deleted are not there any more.
  const before = sorted.find(({ version }) => version < entry.version)
  const other = query.value.get('against') ?? String(before?.version)
  const hasOther = sorted.some(({ version }) => String(version) === other && version !== entry.version)
  const shown = isWhole ? sorted : sorted.slice(0, SHOWN_MAX)
  return (
    <>
      <div class="scroll sample">
        <table class="rows">
          <thead>
            <tr>
              <th>Version</th>
              <th>Registered</th>
              <th>Catalog id</th>
              <th>Compare</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={row.catalog_id} aria-selected={row.version === entry.version}>
                <td>
                  <a href={entryHref(entry.path, { version: String(row.version), tab: 'versions' })}>@{row.version}</a>
                  {row.archived_at !== null && <span class="muted"> archived</span>}
                </td>
                <td>
                  <Ago at={row.created_at} />
                </td>
                <td>
                  <code class="whole">{row.catalog_id}</code>
                </td>
                <td>
                  {row.version === entry.version ? (
                    <span class="muted">shown</span>
                  ) : (
                    <button
                      type="button"
                      aria-pressed={String(row.version) === other}
                      onClick={() => ask({ against: String(row.version) })}
                    >
                      with @{entry.version}
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {sorted.length > shown.length && (
          <button type="button" class="link" onClick={() => setWhole(true)}>
            the newest {whole(shown.length)} of {whole(sorted.length)} versions, show all
          </button>
        )}
        {isWhole && hasMore && <p class="muted">There are older ones.</p>}
      </div>
      {hasOther && <Against entry={entry} version={other} />}
    </>
  )
}

function Against({ entry, version }: { entry: Entry; version: string }) {
  const other = useResource(`${entry.path}@${version}`, (signal) => loadEntry({ path: entry.path, version }, signal))
  return (
    <section class="section">
      <Panel resource={other}>{(found) => <Between versions={inOrder(found, entry)} />}</Panel>
    </section>
  )
}

function inOrder(one: Entry, other: Entry): [Entry, Entry] {
  return one.version < other.version ? [one, other] : [other, one]
}

function Between({ versions: [from, to] }: { versions: [Entry, Entry] }) {
  return (
    <>
      <h2>
        From @{from.version} to @{to.version}
      </h2>
      <Difference from={from.content ?? ''} to={to.content ?? ''} />
    </>
  )
}
