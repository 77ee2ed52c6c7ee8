// The states of every panel, in one place: waiting, empty, partial, refused, forbidden, old. Never a blank page and never
// a spinner alone.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ApiError } from '../lib/api'
import { session } from '../lib/session'
import { clockText } from '../lib/time'
import type { Resource } from '../lib/useResource'
import { Command } from './Command'
import { Told } from './Told'

interface PanelProps<T> {
  resource: Resource<T>
  isEmpty?: (data: T) => boolean
  /** Why there is nothing, and what fills it. */
  empty?: ComponentChildren
  /** Parts of the installation that did not answer. */
  missing?: string | undefined
  lines?: number
  children: (data: T) => ComponentChildren
}

export function Panel<T>({ resource, isEmpty, empty, missing, lines = 4, children }: PanelProps<T>) {
  const { data, error, at, reload } = resource
  if (data === undefined)
    return error === undefined ? <Skeleton lines={lines} /> : <Refusal error={error} retry={reload} />
  return (
    <>
      {error !== undefined && <Stale error={error} since={at} retry={reload} />}
      {missing !== undefined && (
        <p class="notice partial">
          <Told text={`Shard ${missing} did not answer: what it holds is missing here.`} />
        </p>
      )}
      {isEmpty?.(data) === true ? <div class="empty">{empty}</div> : children(data)}
    </>
  )
}

const PATIENCE_MS = 150

function Skeleton({ lines }: { lines: number }) {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!isLate) return <div class="skeleton" aria-busy="true" />
  return (
    <div class="skeleton" aria-busy="true">
      <span class="visually-hidden">Loading</span>
      {Array.from({ length: lines }, (_, index) => (
        <i key={index} style={{ width: `${90 - ((index * 17) % 45)}%` }} />
      ))}
    </div>
  )
}

function Refusal({ error, retry }: { error: ApiError; retry: () => void }) {
  const title = TITLES[error.status] ?? (error.status === 0 ? 'No answer' : 'This could not be loaded')
  return (
    <div class="refusal" role="alert">
      <h2>{title}</h2>
      <p>{error.message}</p>
      {(error.status === 401 || error.status === 403) && session.value?.read_only !== true && (
        <p>
          Log in with a code that works once: <Command words="console" />
        </p>
      )}
      <p class="muted mono">{error.request}</p>
      <button type="button" onClick={retry}>
        Try again
      </button>
    </div>
  )
}

const TITLES: Readonly<Record<number, string>> = {
  401: 'Log in to see this',
  403: 'You may not see this',
  404: 'Not found',
  503: 'Not available now',
}

function Stale({ error, since, retry }: { error: ApiError; since: number | undefined; retry: () => void }) {
  const when = since === undefined ? '' : ` at ${clockText(since)}`
  return (
    <p class="notice stale">
      <Told text={`Shown as it was${when}: ${error.message}`} />{' '}
      <button type="button" class="link" onClick={retry}>
        Try again
      </button>
    </p>
  )
}
