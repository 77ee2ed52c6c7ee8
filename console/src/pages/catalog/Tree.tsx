// The tree of the catalog as rows of a table. Which folders are open is in the address; a small catalog is open as a whole.
import type { JSX } from 'preact'
import { counted } from '../../lib/counted'
import { ask, query } from '../../lib/router'
import { whole } from '../../lib/time'
import { Ago } from '../../parts/Time'
import { entryHref, type Listed } from './entry'
import { type EntryRow, type FolderRow, treeRows } from './treeRows'

const OPEN_UP_TO = 100
const ROWS_MAX = 1_000
/** In the address: no folder is open. */
const NONE = '-'

/** `isNarrowed`: only what was looked for is here, and all of it is shown. */
export function Tree({ entries, isNarrowed }: { entries: readonly Listed[]; isNarrowed: boolean }) {
  const asked = query.value.get('open')
  const named = new Set(asked === null || asked === NONE ? [] : asked.split(',').map(folderOf))
  const isEach = isNarrowed || (asked === null && entries.length <= OPEN_UP_TO)
  const rows = treeRows(entries, (folder) => isEach || named.has(folder))
  const toggle = (row: FolderRow): void => {
    const open = new Set(isEach ? rows.filter(isFolder).map(({ path }) => path) : named)
    if (!open.delete(row.path)) open.add(row.path)
    ask({ open: open.size === 0 ? NONE : [...open].map(nameOf).join(',') }, { replace: true })
  }
  return (
    <>
      <div class="scroll">
        <table class="wide rows tree">
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
            {rows
              .slice(0, ROWS_MAX)
              .map((row) =>
                row.kind === 'folder' ? (
                  <Folder key={row.path} row={row} onToggle={isNarrowed ? undefined : () => toggle(row)} />
                ) : (
                  <Entry key={row.entry.path} row={row} />
                ),
              )}
          </tbody>
        </table>
      </div>
      {rows.length > ROWS_MAX && (
        <p class="muted">
          The first {whole(ROWS_MAX)} of {whole(rows.length)} rows: fold a folder, or look for a text in the path.
        </p>
      )}
    </>
  )
}

/** Folders stand in the address with commas between them. */
function nameOf(folder: string): string {
  return folder.replaceAll('%', '%25').replaceAll(',', '%2C')
}

function folderOf(name: string): string {
  return name.replaceAll('%2C', ',').replaceAll('%25', '%')
}

function isFolder(row: { kind: string }): row is FolderRow {
  return row.kind === 'folder'
}

function indented(depth: number): JSX.CSSProperties {
  return { '--depth': String(depth) } as JSX.CSSProperties
}

function Folder({ row, onToggle }: { row: FolderRow; onToggle: (() => void) | undefined }) {
  const { label, path, depth, entries, isOpen } = row
  const name = (
    <>
      <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> <bdi>{label}</bdi>
    </>
  )
  return (
    <tr class="folder" style={indented(depth)}>
      <td class="ellipsis main" colSpan={5}>
        {onToggle === undefined ? (
          <span title={path}>{name}</span>
        ) : (
          <button
            type="button"
            class="link"
            title={path}
            aria-expanded={isOpen}
            onClick={onToggle}
            onKeyDown={(event) => {
              if (event.key !== (isOpen ? 'ArrowLeft' : 'ArrowRight')) return
              event.preventDefault()
              onToggle()
            }}
          >
            {name}
          </button>
        )}{' '}
        <span class="muted">{counted(entries, 'entry', 'entries')}</span>
      </td>
    </tr>
  )
}

function Entry({ row: { entry, label, depth } }: { row: EntryRow }) {
  // The newest that counts would be another one, or none.
  const version = entry.archived_at === null ? undefined : String(entry.version)
  return (
    <tr style={indented(depth)}>
      <td class="ellipsis main">
        <a href={entryHref(entry.path, { version })} title={entry.path} aria-label={entry.path}>
          <bdi>{label}</bdi>
        </a>
        {entry.archived_at !== null && <span class="muted"> archived</span>}
      </td>
      <td>{entry.kind}</td>
      <td class="number">@{entry.version}</td>
      <td class="number" data-name="versions">
        {whole(entry.versions)}
      </td>
      <td>
        <Ago at={entry.created_at} />
      </td>
    </tr>
  )
}
