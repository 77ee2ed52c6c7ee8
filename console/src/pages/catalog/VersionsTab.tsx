// The versions of an entry, newest first, and what is different between the one that is shown and another.
import { ask, query } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { Ago } from '../../parts/Time'
import { Difference } from './Difference'
import { type Entry, type EntryHead, entryHref, loadEntry } from './entry'

export function VersionsTab({ entry, versions }: { entry: Entry; versions: readonly EntryHead[] }) {
  const sorted = [...versions].sort((left, right) => right.version - left.version)
  const other = query.value.get('against') ?? String(entry.version - 1)
  const hasOther = sorted.some(({ version }) => String(version) === other && version !== entry.version)
  return (
    <>
      <div class="scroll">
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
            {sorted.map((row) => (
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
