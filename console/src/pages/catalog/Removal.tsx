// Takes versions of an entry out of the catalog, and brings archived ones back.
import { go, hrefOf } from '../../lib/router'
import { Act } from '../../parts/Act'
import type { Order } from '../../parts/SameAct'
import { type Entry, type EntryHead, type EntryList, entryHref } from './entry'

interface RemovalProps {
  entry: Entry
  versions: EntryList<EntryHead>
  reload: () => void
}

interface Removed {
  deleted: { version: number; archived: boolean }[]
}

const EVERY = 'every'

export function Removal({ entry, versions: { entries, hasMore }, reload }: RemovalProps) {
  const isArchived = entry.archived_at !== null
  const alike = entries.filter(({ archived_at }) => (archived_at !== null) === isArchived)
  const choice = {
    label: 'Versions',
    options: [
      { value: String(entry.version), name: `@${entry.version}` },
      // Nobody removes more than is told.
      ...(alike.length > 1 && !hasMore
        ? [{ value: EVERY, name: `all ${alike.length}${isArchived ? ' archived' : ''}`, count: alike.length }]
        : []),
    ],
  }
  if (isArchived) {
    return (
      <Act
        name="Restore"
        consequence="Executions can be started from it again, and its schedule counts if it is the newest."
        choice={choice}
        order={(reason, chosen) => orderOf('restore', entry.path, chosen, reason)}
        onDone={reload}
      />
    )
  }
  const leave = ({ deleted }: Removed): void => {
    const gone = new Set(deleted.map(({ version }) => version))
    if (alike.every(({ version }) => gone.has(version))) go(hrefOf('/catalog'))
    else go(entryHref(entry.path))
    reload()
  }
  return (
    <Act<Removed>
      name="Delete"
      consequence="Nothing can be started from it any more, not even by a schedule. A version that executions were started from is archived, and can be restored; others are gone."
      needsReason
      choice={choice}
      order={(reason, chosen) => orderOf('delete', entry.path, chosen, reason)}
      onDone={leave}
    />
  )
}

function orderOf(verb: 'delete' | 'restore', path: string, chosen: string, reason: string): Order {
  const one = chosen === EVERY ? [] : ['--version', chosen]
  return {
    cli: [
      ...['catalog', verb, path, ...one],
      ...(reason === '' ? [] : ['--reason', reason]),
      ...(verb === 'delete' ? ['--yes'] : []),
    ],
    path: `/api/catalog/${verb}`,
    body: {
      path,
      ...(chosen === EVERY ? {} : { version: chosen }),
      ...(reason === '' ? {} : { reason }),
    },
  }
}
