// When executions began, by status. It is the filter by time, too: dragging over it, or with the arrow keys.
import { useRef, useState } from 'preact/hooks'
import { apiPath, getAnswer } from '../../lib/api'
import { counted } from '../../lib/counted'
import { ask } from '../../lib/router'
import { clockText, millisOf, whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { kindOf, wordOf } from '../../parts/Status'
import { STATUSES } from './summary'

export interface Bucket {
  from: string
  to: string
  by_status: Record<string, number>
}

const HEIGHT = 56
const LOWEST = 2
const BUCKETS = 120

interface HistogramProps {
  asked: Record<string, string | undefined>
  /** The rows are here: counting a million must not hold them up. */
  isReady: boolean
}

export function Histogram({ asked, isReady }: HistogramProps) {
  const path = apiPath('/api/executions/histogram', { ...asked, buckets: BUCKETS })
  const { data } = useResource(isReady ? path : null, (signal) => getAnswer<Bucket[]>(path, signal), {
    everyMs: 10_000,
  })
  // Where there is nothing to draw it has no room; while it is asked for it keeps room and focus.
  if (data?.body.length === 0) return null
  return <Bars buckets={data?.body ?? []} isCut={data?.headers.get('x-noetl-truncated') === 'true'} />
}

/** Where it was begun, and where it is now. */
type Brush = readonly [number, number]

function Bars({ buckets, isCut }: { buckets: readonly Bucket[]; isCut: boolean }) {
  const box = useRef<HTMLDivElement>(null)
  const [held, setBrush] = useState<Brush>()
  const [pointed, setPointed] = useState<number>()
  const last = buckets.length - 1
  const within = (place: number): number => Math.max(0, Math.min(last, place))
  // They are counted anew meanwhile, and may be fewer.
  const brush: Brush | undefined = held === undefined || last < 0 ? undefined : [within(held[0]), within(held[1])]
  const most = Math.max(1, ...buckets.map(totalOf))
  const bucketAt = (event: PointerEvent): number => {
    const { left, width } = box.current!.getBoundingClientRect()
    return within(Math.floor(((event.clientX - left) / width) * buckets.length))
  }
  const apply = (): void => {
    const { from, to } = spanOf(buckets, brush!)
    setBrush(undefined)
    ask({ since: from, until: to, cursor: undefined })
  }
  const press = (event: KeyboardEvent): void => {
    // Begun with the newest.
    const at = brush?.[1] ?? buckets.length
    const place = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key]
    if (place !== undefined) setBrush([event.shiftKey && brush !== undefined ? brush[0] : within(place), within(place)])
    else if (event.key === 'Enter' && brush !== undefined) apply()
    else if (event.key === 'Escape' && brush !== undefined) setBrush(undefined)
    else if (event.key === 'Escape') ask({ since: undefined, until: undefined, cursor: undefined })
    else return
    // The same keys do something else on the rest of the screen.
    event.preventDefault()
    event.stopPropagation()
  }
  const text = last < 0 ? 'Executions' : `${isCut ? 'the newest ' : ''}${counted(countIn(buckets), 'execution')}`
  const shown: Brush | undefined = brush ?? (pointed === undefined ? undefined : [within(pointed), within(pointed)])
  return (
    <figure class="histogram" aria-label={`${text} by time of start and status`}>
      <div
        ref={box}
        class="bars"
        role="slider"
        tabIndex={0}
        aria-label="Time of start"
        aria-description="Shift and arrows choose a span, Enter shows it alone, Escape all again"
        aria-valuemin={0}
        aria-valuemax={within(last)}
        aria-valuenow={brush?.[1] ?? within(last)}
        aria-valuetext={brush === undefined ? text : wordsOf(buckets, brush)}
        onKeyDown={press}
        onBlur={() => setBrush(undefined)}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          const at = bucketAt(event)
          setBrush([at, at])
        }}
        onPointerMove={(event) => {
          const at = bucketAt(event)
          setPointed(at)
          if (event.buttons > 0 && brush !== undefined) setBrush([brush[0], at])
        }}
        onPointerLeave={() => setPointed(undefined)}
        onPointerUp={() => {
          if (brush !== undefined && brush[0] !== brush[1]) apply()
          else setBrush(undefined)
        }}
      >
        {brush !== undefined && (
          <i
            class="brush"
            style={{
              left: `${(Math.min(...brush) / buckets.length) * 100}%`,
              width: `${((Math.abs(brush[1] - brush[0]) + 1) / buckets.length) * 100}%`,
            }}
          />
        )}
        {buckets.map((bucket) => (
          <Stack key={bucket.from} bucket={bucket} most={most} />
        ))}
      </div>
      {last >= 0 && (
        <figcaption>
          <time>{clockText(millisOf(buckets[0]!.from))}</time>
          <span>{shown === undefined ? `${text} · drag, or arrow keys, choose a time` : wordsOf(buckets, shown)}</span>
          <time>{clockText(millisOf(buckets[last]!.to))}</time>
        </figcaption>
      )}
    </figure>
  )
}

function spanOf(buckets: readonly Bucket[], brush: Brush): { from: string; to: string } {
  return { from: buckets[Math.min(...brush)]!.from, to: buckets[Math.max(...brush)]!.to }
}

/** `2026-03-01 10:00:00 to 10:05:00: 2 completed, 1 failed` */
function wordsOf(buckets: readonly Bucket[], brush: Brush): string {
  const span = spanOf(buckets, brush)
  const [from, to] = [clockText(millisOf(span.from)), clockText(millisOf(span.to))]
  const sums = new Map<string, number>()
  for (const { by_status: counts } of buckets.slice(Math.min(...brush), Math.max(...brush) + 1)) {
    for (const [status, count] of Object.entries(counts)) sums.set(status, (sums.get(status) ?? 0) + count)
  }
  const told = [...sums].filter(([, count]) => count > 0).map(([status, count]) => `${whole(count)} ${wordOf(status)}`)
  const until = from.slice(0, 10) === to.slice(0, 10) ? to.slice(11) : to
  return `${from} to ${until}: ${told.join(', ') || 'none'}`
}

function Stack({ bucket, most }: { bucket: Bucket; most: number }) {
  const others = Object.keys(bucket.by_status).filter((one) => !(STATUSES as readonly string[]).includes(one))
  return (
    <span>
      {[...STATUSES, ...others].map((status) => {
        const count = bucket.by_status[status] ?? 0
        if (count === 0) return null
        const height = Math.max(LOWEST, (count / most) * (HEIGHT - 4))
        return <i key={status} class={`bar ${kindOf(status)}`} style={{ height: `${height}px` }} />
      })}
    </span>
  )
}

/** Executions in all of them. */
export function countIn(buckets: readonly Bucket[]): number {
  return buckets.reduce((sum, bucket) => sum + totalOf(bucket), 0)
}

function totalOf(bucket: Bucket): number {
  return Object.values(bucket.by_status).reduce((sum, count) => sum + count, 0)
}
