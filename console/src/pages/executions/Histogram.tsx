// When executions began, by status. Dragging over it is the filter by time.
import { useRef, useState } from 'preact/hooks'
import { apiPath, getAnswer } from '../../lib/api'
import { ask } from '../../lib/router'
import { clockText, millisOf, whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { kindOf } from '../../parts/Status'
import { STATUSES } from './summary'

export interface Bucket {
  from: string
  to: string
  by_status: Record<string, number>
}

const HEIGHT = 56
const BUCKETS = 120

interface HistogramProps {
  asked: Record<string, string | undefined>
  /** The rows are here: counting a million must not hold them up. */
  isReady: boolean
}

export function Histogram({ asked, isReady }: HistogramProps) {
  const path = apiPath('/api/executions/histogram', { ...asked, buckets: BUCKETS })
  const counted = useResource(isReady ? path : null, (signal) => getAnswer<Bucket[]>(path, signal), {
    everyMs: 10_000,
  })
  // Until the rows of other filters are here, what was counted is of the last ones.
  const data = isReady ? counted.data : undefined
  const buckets = data?.body ?? []
  // Room for it while it is asked for; where there is nothing to draw, none.
  if (buckets.length === 0) return data === undefined ? <div class="histogram" /> : null
  return <Bars buckets={buckets} isCut={data?.headers.get('x-noetl-truncated') === 'true'} />
}

function Bars({ buckets, isCut }: { buckets: readonly Bucket[]; isCut: boolean }) {
  const box = useRef<HTMLDivElement>(null)
  const [brush, setBrush] = useState<readonly [number, number]>()
  const most = Math.max(1, ...buckets.map(totalOf))
  const bucketAt = (event: PointerEvent): number => {
    const { left, width } = box.current!.getBoundingClientRect()
    return Math.min(buckets.length - 1, Math.max(0, Math.floor(((event.clientX - left) / width) * buckets.length)))
  }
  const finish = (): void => {
    if (brush === undefined) return
    const [from, to] = [Math.min(...brush), Math.max(...brush)]
    setBrush(undefined)
    if (from !== to) ask({ since: buckets[from]!.from, until: buckets[to]!.to, cursor: undefined })
  }
  const total = buckets.reduce((sum, bucket) => sum + totalOf(bucket), 0)
  const text = `${isCut ? 'the newest ' : ''}${whole(total)} ${total === 1 ? 'execution' : 'executions'}`
  return (
    <figure class="histogram" aria-label={`${text} by time of start and status`}>
      <div
        ref={box}
        class="bars"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          const at = bucketAt(event)
          setBrush([at, at])
        }}
        onPointerMove={(event) => brush !== undefined && setBrush([brush[0], bucketAt(event)])}
        onPointerUp={finish}
      >
        <svg viewBox={`0 0 ${buckets.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {brush !== undefined && (
            <rect
              class="brush"
              x={Math.min(...brush)}
              width={Math.abs(brush[1] - brush[0]) + 1}
              y={0}
              height={HEIGHT}
            />
          )}
          {buckets.map((bucket, index) => (
            <Stack key={bucket.from} bucket={bucket} x={index} most={most} />
          ))}
        </svg>
      </div>
      <figcaption>
        <time>{clockText(millisOf(buckets[0]!.from))}</time>
        <span>{text} · drag to choose a time</span>
        <time>{clockText(millisOf(buckets.at(-1)!.to))}</time>
      </figcaption>
    </figure>
  )
}

function Stack({ bucket, x, most }: { bucket: Bucket; x: number; most: number }) {
  let y = HEIGHT
  const statuses = [
    ...STATUSES,
    ...Object.keys(bucket.by_status).filter((one) => !(STATUSES as readonly string[]).includes(one)),
  ]
  return (
    <g>
      <title>{`${clockText(millisOf(bucket.from))}: ${JSON.stringify(bucket.by_status)}`}</title>
      {statuses.map((status) => {
        const count = bucket.by_status[status] ?? 0
        if (count === 0) return null
        const height = Math.max(2, (count / most) * (HEIGHT - 4))
        y -= height
        return <rect key={status} class={`bar ${kindOf(status)}`} x={x + 0.1} y={y} width={0.8} height={height} />
      })}
    </g>
  )
}

export function totalOf(bucket: Bucket): number {
  return Object.values(bucket.by_status).reduce((sum, count) => sum + count, 0)
}
