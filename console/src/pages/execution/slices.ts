// What the daemon knows about positions of one log, as far as it was asked: the newest 32 are kept.
import { ApiError, type Asked, apiPath } from '../../lib/api'
import type { Difference } from '../../lib/difference'
import { getJson, isNumber, type Json } from '../../lib/losslessJson'
import { millisOf } from '../../lib/time'
import type { Moment } from './tape'

export interface Touched {
  surface: string
  key: string
  before: Json
  after: Json
}

export interface Slice {
  position: number
  eventId: string | undefined
  /** What happened there; undefined before the first event. */
  moment: Moment | undefined
  version: number | undefined
  head: Json
  /** Surface → status → number. */
  counts: Readonly<Record<string, Readonly<Record<string, number>>>>
  touched: readonly Touched[]
  touchedCount: number
  folded: number
  foldedMs: number
  /** Between two states that the daemon keeps, in events. */
  distance: number
}

/** Between two positions; of very many only the first. */
export interface Differing {
  differences: readonly Difference[]
  count: number
}

type Fields = { [key: string]: Json }

const KEPT_MAX = 32

export class Slices {
  private readonly kept = new Map<number, Slice>()
  private readonly sums = new Map<number, string>()

  constructor(
    readonly executionId: string,
    /** Positions mean something only within it. */
    readonly epoch: string,
    private readonly onMoved: () => void,
  ) {}

  peek(position: number): Slice | undefined {
    return this.kept.get(position)
  }

  checksum(position: number): string | undefined {
    return this.sums.get(position)
  }

  async load(position: number, signal: AbortSignal): Promise<Slice> {
    const known = this.kept.get(position)
    const slice = known ?? sliceOf(await this.ask('at', position, signal))
    keep(this.kept, position, slice)
    return slice
  }

  async loadChecksum(position: number, signal: AbortSignal): Promise<void> {
    if (this.sums.has(position)) return
    const answer = await this.ask('checksum', position, signal)
    keep(this.sums, position, String(answer['checksum']))
  }

  async differences(from: number, to: number, signal: AbortSignal): Promise<Differing> {
    const answer = await this.ask('at', to, signal, { since: from, part: 'counts' })
    return {
      differences: answer['differences'] as unknown as Difference[],
      count: numberOf(answer['differences_count']),
    }
  }

  private async ask(what: 'at' | 'checksum', position: number, signal: AbortSignal, more: Asked = {}): Promise<Fields> {
    const path = apiPath(`/api/executions/${this.executionId}/${what}`, { position, ...more })
    const answer = (await getJson(path, signal)) as Fields
    if (answer['epoch'] === this.epoch) return answer
    this.onMoved()
    throw new ApiError('An event arrived late and moved the positions; the log is loaded again.', -1, path)
  }
}

/** How many events had happened with this one, and which was the last of them: the one asked for, if the log has it. */
export async function askPlace(
  executionId: string,
  asked: { event: string } | { version: string },
  signal?: AbortSignal,
) {
  const path = apiPath(`/api/executions/${executionId}/at`, { ...asked, part: 'counts' })
  const answer = (await getJson(path, signal)) as Fields
  return { position: numberOf(answer['position']), eventId: eventIdIn(answer) }
}

function eventIdIn(answer: Fields): string | undefined {
  return (answer['event'] as { event_id: string } | null)?.event_id
}

function momentIn({ event, time }: Fields): Moment | undefined {
  if (event == null) return undefined
  const { event_type: type, node_name: step, status } = event as { [name: string]: string | null }
  const isFailure = /fail|error/i.test(`${type} ${status}`)
  // Which ones arrived late is known where all of the log is drawn.
  return { type: type!, step: step ?? null, at: millisOf(String(time)), isFailure, isLate: false }
}

function keep<T>(map: Map<number, T>, position: number, value: T): void {
  map.delete(position)
  map.set(position, value)
  if (map.size > KEPT_MAX) map.delete(map.keys().next().value!)
}

function sliceOf(answer: Fields): Slice {
  const cost = answer['cost'] as Fields
  const counts = Object.entries(answer['counts'] as { [surface: string]: Fields }).map(([surface, byStatus]) => [
    surface,
    Object.fromEntries(Object.entries(byStatus).map(([status, count]) => [status, numberOf(count)])),
  ])
  return {
    position: numberOf(answer['position']),
    eventId: eventIdIn(answer),
    moment: momentIn(answer),
    version: answer['version'] == null ? undefined : Number(answer['version']),
    head: answer['head']!,
    counts: Object.fromEntries(counts),
    touched: answer['touched'] as unknown as Touched[],
    touchedCount: numberOf(answer['touched_count']),
    folded: numberOf(cost['folded']),
    foldedMs: numberOf(cost['ms']),
    distance: numberOf(cost['distance']),
  }
}

export function numberOf(value: Json | undefined): number {
  return value !== undefined && isNumber(value) ? Number(value.value) : Number.NaN
}
