// The paths of a catalog as a tree: a folder for each part before a slash that several share, entries below it.
import type { Listed } from './entry'

export interface FolderRow {
  kind: 'folder'
  /** With the slash at its end. */
  path: string
  /** What it adds to the folder around it. */
  label: string
  depth: number
  entries: number
  isOpen: boolean
}

export interface EntryRow {
  kind: 'entry'
  entry: Listed
  label: string
  depth: number
}

export type TreeRow = FolderRow | EntryRow

/** The rows in sight, in order: folders before entries, each by its name. What is in a closed folder is left out. */
export function treeRows(entries: readonly Listed[], isOpen: (folder: string) => boolean): TreeRow[] {
  return rowsBelow('', entries, 0, isOpen)
}

function rowsBelow(
  folder: string,
  entries: readonly Listed[],
  depth: number,
  isOpen: (folder: string) => boolean,
): TreeRow[] {
  const folders = new Map<string, Listed[]>()
  const own: EntryRow[] = []
  for (const entry of entries) {
    const rest = entry.path.slice(folder.length)
    const end = rest.indexOf('/')
    if (end === -1) own.push({ kind: 'entry', entry, label: rest, depth })
    else {
      const inside = folders.get(rest.slice(0, end + 1))
      if (inside === undefined) folders.set(rest.slice(0, end + 1), [entry])
      else inside.push(entry)
    }
  }
  const below = [...folders].sort(byName).flatMap(([name, inside]) => {
    const [only, second] = inside
    if (only !== undefined && second === undefined) {
      own.push({ kind: 'entry', entry: only, label: only.path.slice(folder.length), depth })
      return []
    }
    const path = folder + name + sharedBy(inside, folder.length + name.length)
    const isShown = isOpen(path)
    const row: FolderRow = {
      kind: 'folder',
      path,
      label: path.slice(folder.length),
      depth,
      entries: inside.length,
      isOpen: isShown,
    }
    return isShown ? [row, ...rowsBelow(path, inside, depth + 1, isOpen)] : [row]
  })
  return [...below, ...own.sort((left, right) => (left.label < right.label ? -1 : 1))]
}

/** Folders that hold nothing but one folder are one row with it. */
function sharedBy(entries: readonly Listed[], from: number): string {
  const [first] = entries
  let shared = ''
  while (first !== undefined) {
    const end = first.path.indexOf('/', from + shared.length)
    const longer = end === -1 ? '' : first.path.slice(from, end + 1)
    if (longer === '' || !entries.every(({ path }) => path.startsWith(longer, from))) return shared
    shared = longer
  }
  return shared
}

function byName([left]: [string, unknown], [right]: [string, unknown]): number {
  return left < right ? -1 : 1
}
