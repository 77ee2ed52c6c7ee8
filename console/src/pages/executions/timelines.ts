// Small timelines of the rows of the list. They are asked for once the rows are there, so the list never waits for them; what has
// not changed is not asked for again.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { apiPath, get } from '../../lib/api'
import type { ExecutionSummary } from './summary'

export interface Timeline {
  execution_id: string
  begins_at: string
  events: number
  looked_at: number
  steps: { step: string; from_ms: number; to_ms: number | null; status: string }[]
}

/** With how many events its execution had; without a timeline nothing is known of its steps. */
interface Known {
  events: number
  timeline: Timeline | undefined
}

const KNOWN_MAX = 500
/** Runs that change all the time are asked for so often. */
const PAUSE_MS = 2_000

export const timelines = signal<ReadonlyMap<string, Known>>(new Map())

let newest: readonly ExecutionSummary[] = []
let isAsking = false

export function useTimelines(rows: readonly ExecutionSummary[]): void {
  useEffect(() => {
    newest = rows
    if (!isAsking) void follow()
  }, [rows])
}

async function follow(): Promise<void> {
  isAsking = true
  for (let wanted = changed(); wanted.length > 0; wanted = changed()) {
    const ids = wanted.map((row) => row.execution_id).join(',')
    // Without an answer the list is as good as before; the next change asks again.
    const found = await get<Timeline[]>(apiPath('/api/executions/timelines', { ids })).catch(() => undefined)
    if (found === undefined) break
    keep(wanted, found)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  isAsking = false
}

function changed(): readonly ExecutionSummary[] {
  return newest.filter((row) => timelines.peek().get(row.execution_id)?.events !== row.event_count)
}

function keep(wanted: readonly ExecutionSummary[], found: readonly Timeline[]): void {
  const byId = new Map(found.map((timeline) => [timeline.execution_id, timeline]))
  const next = new Map(timelines.peek())
  for (const { execution_id: id, event_count: events } of wanted) {
    next.delete(id)
    next.set(id, { events, timeline: byId.get(id) })
  }
  for (const oldest of next.keys()) {
    if (next.size <= KNOWN_MAX) break
    next.delete(oldest)
  }
  timelines.value = next
}
