// What an act was about, as links: its target, or for one on many what it had been asked for.
import { get } from '../../lib/api'
import { hrefOf } from '../../lib/router'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { entryHref } from '../catalog/entry'
import { keyOf } from '../outbox/outbox'

export interface Act {
  action: string
  target_kind: string | null
  target_id: string | null
  request: unknown
}

interface Link {
  text: string
  href?: string | undefined
}

const NAMED_MAX = 3

export function About({ act }: { act: Act }) {
  const links = linksOf(act)
  if (links.length === 0) return <span class="muted">–</span>
  return (
    <>
      {links.map(({ text, href }, index) => (
        <span key={text}>
          {index > 0 && ' '}
          {href === undefined ? text : <a href={href}>{text}</a>}
        </span>
      ))}
      {act.target_kind === 'command' && act.target_id !== null && <CommandLink id={act.target_id} />}
    </>
  )
}

/** A command is seen on the page of its execution. */
function CommandLink({ id }: { id: string }) {
  const path = `/api/commands/${encodeURIComponent(id)}`
  const { data } = useResource(path, (signal) => get<{ execution_id: string | number }>(path, signal))
  if (data === undefined) return null
  return (
    <>
      {' '}
      of <a href={hrefOf(`/executions/${data.execution_id}`, { tab: 'events' })}>{data.execution_id}</a>
    </>
  )
}

function linksOf({ action, target_kind: kind, target_id: id, request }: Act): Link[] {
  const asked = (typeof request === 'object' && request !== null ? request : {}) as Readonly<Record<string, unknown>>
  const many = action.startsWith('outbox.') ? rowsAsked(asked) : action === 'bulk' ? executionsAsked(asked) : []
  if (many.length > 0) return many
  if (kind === null || id === null) return unnamed(action, asked)
  const { version } = asked
  if (kind === 'catalog' && (typeof version === 'string' || typeof version === 'number')) {
    return [{ text: kind }, { text: `${id}@${version}`, href: entryHref(id, { version: String(version) }) }]
  }
  return [{ text: kind }, { text: id, href: hrefOfTarget(kind, id) }]
}

/** Acts of commands name an entry of the catalog where those of the API have an id. */
function hrefOfTarget(kind: string, id: string): string | undefined {
  const isId = /^\d+$/.test(id)
  switch (kind) {
    case 'execution':
    case 'snapshot':
    case 'replay':
    case 'var':
      return isId ? hrefOf(`/executions/${id}`) : entryHref(id)
    case 'subscription':
      return isId ? hrefOf(`/subscriptions/${id}`) : entryHref(id)
    case 'catalog':
    case 'schedule':
    case 'run':
      return isId ? hrefOf('/executions', { catalog_id: id }) : entryHref(id)
    case 'outbox':
      return isId ? rowHref(id) : undefined
    case 'job':
    case 'bulk':
      return hrefOf('/jobs', { job: id })
    // Pools are told on the overview.
    case 'worker':
      return hrefOf('/')
    default:
      return undefined
  }
}

/** Ids are unique per database; without its number it is the only one. */
function rowHref(id: string, shard: unknown = 0): string {
  return hrefOf('/outbox', { tab: 'rows', row: keyOf({ shard: Number(shard), outbox_id: id }) })
}

function rowsAsked({ ids, shard, execution_id: execution, reason }: Readonly<Record<string, unknown>>): Link[] {
  if (Array.isArray(ids)) return firstOf(ids, 'rows', (id) => rowHref(id, shard ?? 0))
  if (typeof execution === 'string')
    return [{ text: `rows of ${execution}`, href: hrefOf('/outbox', { tab: 'rows', execution }) }]
  if (typeof reason === 'string') return [{ text: `dead: ${reason}`, href: hrefOf('/outbox', { tab: 'dead', reason }) }]
  return []
}

function executionsAsked({ ids, filter }: Readonly<Record<string, unknown>>): Link[] {
  if (Array.isArray(ids)) return firstOf(ids, 'executions', (id) => hrefOf(`/executions/${id}`))
  if (typeof filter !== 'object' || filter === null) return []
  return [{ text: 'executions that match', href: hrefOf('/executions', filter as Record<string, string>) }]
}

function firstOf(ids: readonly unknown[], what: string, hrefOfOne: (id: string) => string): Link[] {
  const named = ids.slice(0, NAMED_MAX).map(String)
  const rest = ids.length - named.length
  const links = named.map((id) => ({ text: id, href: hrefOfOne(id) }))
  return [
    { text: `${whole(ids.length)} ${what}:` },
    ...links,
    ...(rest > 0 ? [{ text: `and ${whole(rest)} more` }] : []),
  ]
}

/** Of records from before targets were known at the end, and of what has none. */
function unnamed(action: string, { path }: Readonly<Record<string, unknown>>): Link[] {
  if (typeof path === 'string' && path !== '') return [{ text: path, href: entryHref(path) }]
  const place = PLACES.find(([prefix]) => action.startsWith(prefix))
  return place === undefined ? [] : [{ text: place[1], href: hrefOf(place[2]) }]
}

const PLACES: readonly (readonly [string, string, string])[] = [
  ['outbox', 'outbox', '/outbox'],
  ['executions', 'executions', '/executions'],
  ['execute', 'executions', '/executions'],
  ['snapshots', 'snapshots', '/snapshots'],
  ['replay', 'snapshots', '/snapshots'],
  ['subscriptions.dead', 'dead messages', '/subscriptions'],
  ['catalog', 'catalog', '/catalog'],
]
