// One kind of entities at the handle: how many stand how, those the event has touched first, and all of them by the hundred.
import { useRef, useState } from 'preact/hooks'
import { apiPath } from '../../lib/api'
import { getJson, type Json } from '../../lib/losslessJson'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { useRested } from '../../lib/useRested'
import { JsonTree } from '../../parts/JsonTree'
import { Panel } from '../../parts/Panel'
import { Glyph, kindOf } from '../../parts/Status'
import type { Slice } from './slices'

const PAGE = 100

interface SurfaceProps {
  executionId: string
  name: string
  byStatus: Readonly<Record<string, number>>
  count: number
  slice: Slice
}

export function Surface({ executionId, name, byStatus, count, slice }: SurfaceProps) {
  const [isOpen, setOpen] = useState(false)
  const touched = slice.touched.filter((one) => one.surface === name)
  return (
    <div class="surface">
      <button type="button" class="quiet surface-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="twist">{isOpen ? '▾' : '▸'}</span>
        <b>{name.replace('_', ' ')}</b>
        <span class="muted">{whole(count)}</span>
        <span class="surface-counts">
          {Object.entries(byStatus).map(([status, number]) => (
            <span key={status} class={`status ${kindOf(status)}`}>
              <Glyph kind={kindOf(status)} />
              {whole(number)} {status.toLowerCase()}
            </span>
          ))}
        </span>
      </button>
      {touched.length > 0 && (
        <div class="touched">
          <span class="muted">changed by this event</span>
          <JsonTree
            value={Object.fromEntries(touched.map(({ key, after }) => [key, after]))}
            open={touched.length > 3 ? 1 : 2}
          />
        </div>
      )}
      {isOpen && <Entities executionId={executionId} name={name} count={count} position={slice.position} />}
    </div>
  )
}

interface EntitiesProps {
  executionId: string
  name: string
  count: number
  position: number
}

interface PageAnswer {
  pages: [{ entries: { key: string; value: Json }[] }]
}

function Entities({ executionId, name, count, position }: EntitiesProps) {
  const [wanted, setFrom] = useState(0)
  const from = wanted < count ? wanted : 0
  const path = apiPath(`/api/executions/${executionId}/at`, {
    position: useRested(position),
    part: `page:${name}:${from}`,
  })
  const page = useResource(path, async (signal) => {
    const { pages } = (await getJson(path, signal)) as unknown as PageAnswer
    return Object.fromEntries(pages[0].entries.map(({ key, value }) => [key, value]))
  })
  // What was shown stays while the next is asked for, with everything that was unfolded in it.
  const last = useRef(page.data)
  last.current = page.data ?? last.current
  return (
    <>
      <Panel resource={{ ...page, data: last.current }} lines={6}>
        {(entries) => <JsonTree value={entries} open={1} />}
      </Panel>
      {count > PAGE && (
        <p class="pages">
          <button type="button" disabled={from === 0} onClick={() => setFrom(from - PAGE)}>
            Previous
          </button>
          <span class="muted">
            {whole(from + 1)} to {whole(Math.min(count, from + PAGE))} of {whole(count)}
          </span>
          <button type="button" disabled={from + PAGE >= count} onClick={() => setFrom(from + PAGE)}>
            Next
          </button>
        </p>
      )}
    </>
  )
}
