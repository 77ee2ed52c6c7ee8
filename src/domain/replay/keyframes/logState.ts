// The state of a log at one position, folded by the rules of replay in profile `cp`, so that it can be left and come back
// to: `seal` fixes it, `LogState.from` goes on from there. Events must come in id order, each once, as the log has them.
import { type JsonObject, setKey } from '../../json/value.js'
import type { Integer } from '../coerce.js'
import { eventIdOf } from '../eventIntake.js'
import { EventView } from '../eventView.js'
import { headOf } from '../fold.js'
import { FoldRules } from '../foldRules.js'
import { FoldState, type StateMaps } from '../foldState.js'
import type { FoldOptions } from '../foldTypes.js'
import { MAP_SURFACES, type MapSurface } from '../profile.js'
import { type StateChecksums, stateChecksums } from '../stateChecksum.js'
import { FoldWarnings } from '../warnings.js'
import { type Change, KeyIndex, type MapFrame, PersistentMap } from './persistentMap.js'
import { ReferenceLog } from './referenceLog.js'

/** How many entities of each map have which status. */
export type StateCounts = Record<MapSurface, Map<string, number>>

export interface Frame {
  position: number
  head: JsonObject
  /** How many of the references of the whole log there are; the list itself is shared. */
  references: number
  maps: Record<MapSurface, MapFrame<JsonObject>>
  counts: StateCounts
  bytes: number
}

export interface Touched extends Change<JsonObject> {
  surface: MapSurface
}

/** What all positions of one log share. */
export class LogShared {
  readonly rules = new FoldRules('cp', new FoldWarnings())
  readonly index = each(() => new KeyIndex())
  readonly references = new ReferenceLog()

  constructor(
    readonly options: Pick<FoldOptions, 'tenantId' | 'organizationId' | 'executionId' | 'upcasterRegistryDigest'>,
  ) {}

  /** Forgets what was mentioned after the frame. */
  cutTo(frame: Frame): void {
    for (const surface of MAP_SURFACES) this.index[surface].cut(frame.maps[surface].size)
    this.references.cut(frame.references)
  }
}

export class LogState {
  position: number
  readonly view = new EventView()
  private readonly maps: Record<MapSurface, PersistentMap<JsonObject>>
  private readonly state: FoldState
  private readonly counts: StateCounts
  /** How many references there are that the log shares; those since then are the state's own. */
  private sharedReferences: number
  private readonly ownReferences: JsonObject[] = []

  private constructor(
    private readonly shared: LogShared,
    base: Frame | undefined,
    private readonly isEnd: boolean,
  ) {
    this.position = base?.position ?? 0
    this.sharedReferences = base?.references ?? 0
    this.maps = each((surface) => new PersistentMap(shared.index[surface], base?.maps[surface]))
    const head =
      base === undefined
        ? headOf({ ...shared.options, profile: 'cp', projection: 'all' })
        : { ...base.head, execution: { ...(base.head['execution'] as JsonObject) } }
    this.state = FoldState.over(head, this.maps as unknown as StateMaps)
    this.execution['payload_refs'] = this.ownReferences
    this.counts = each((surface) => new Map(base?.counts[surface]))
  }

  /** The state that grows with the log, and whose references everybody shares. */
  static atEnd(shared: LogShared, base?: Frame): LogState {
    return new LogState(shared, base, true)
  }

  static from(shared: LogShared, base: Frame): LogState {
    return new LogState(shared, base, false)
  }

  apply(event: JsonObject): void {
    const { rules } = this.shared
    const id: Integer | null = eventIdOf(event)
    rules.eventId = id
    this.view.read(event, id, rules)
    this.state.evolve(this.view, rules)
    this.position++
    if (this.isEnd && this.ownReferences.length > 0) this.shareReferences()
  }

  seal(): Frame {
    this.count()
    let bytes = 1_000
    const maps = each((surface) => {
      const { frame, bytes: cost } = this.maps[surface].seal()
      bytes += cost
      return frame
    })
    this.state.forget()
    const { payload_refs: _, ...execution } = this.execution
    return {
      position: this.position,
      head: { ...this.state.head, execution },
      references: this.sharedReferences + this.ownReferences.length,
      maps,
      counts: each((surface) => new Map(this.counts[surface])),
      bytes,
    }
  }

  /** What changed since the state was sealed. */
  touched(): Touched[] {
    return MAP_SURFACES.flatMap((surface) => this.maps[surface].changes().map((change) => ({ surface, ...change })))
  }

  /** The head without the list of references, which may be as long as the log. */
  shownHead(): JsonObject {
    const { payload_refs: _, ...execution } = this.execution
    const count = this.sharedReferences + this.ownReferences.length
    const last = this.ownReferences.at(-1) ?? this.shared.references.at(this.sharedReferences - 1)
    return { ...this.state.head, execution: { ...execution, payload_ref_count: count, last_payload_ref: last } }
  }

  shownCounts(): Record<MapSurface, Record<string, number>> {
    const counts = each((surface) => new Map(this.counts[surface]))
    for (const surface of MAP_SURFACES) countChanges(counts[surface], this.maps[surface].changes())
    return each((surface) => Object.fromEntries(counts[surface]))
  }

  entity(surface: MapSurface, key: string): JsonObject | undefined {
    return this.maps[surface].peek(key)
  }

  page(surface: MapSurface, from: number, count: number): { total: number; entries: [string, JsonObject][] } {
    return { total: this.maps[surface].size, entries: this.maps[surface].slice(from, count) }
  }

  /** The documents of two positions of one log, both without the entities and references that the two have in common. */
  static apart(one: LogState, other: LogState): [JsonObject, JsonObject] {
    const common = Math.min(one.sharedReferences, other.sharedReferences)
    const documents: [JsonObject, JsonObject] = [one.headWithout(common), other.headWithout(common)]
    for (const surface of MAP_SURFACES) {
      const sides: [JsonObject, JsonObject] = [{}, {}]
      for (const [key, ...values] of one.maps[surface].differing(other.maps[surface])) {
        values.forEach((value, side) => {
          if (value !== undefined) setKey(sides[side]!, key, value)
        })
      }
      documents.forEach((document, side) => {
        document[surface] = sides[side]!
      })
    }
    return documents
  }

  /** As replay computes them. `onChunk` is called now and then, and may throw to give up. */
  checksums(onChunk?: () => void): StateChecksums {
    try {
      this.execution['payload_refs'] = this.shared.references.first(this.sharedReferences).concat(this.ownReferences)
      return stateChecksums(this.state, new Set(MAP_SURFACES), this.shared.rules, null, onChunk)
    } finally {
      this.execution['payload_refs'] = this.ownReferences
    }
  }

  private headWithout(references: number): JsonObject {
    const listed = this.shared.references.first(this.sharedReferences, references).concat(this.ownReferences)
    return { ...this.state.head, execution: { ...this.execution, payload_refs: listed } }
  }

  private get execution(): JsonObject {
    return this.state.head['execution'] as JsonObject
  }

  private shareReferences(): void {
    for (const reference of this.ownReferences) this.shared.references.push(reference)
    this.sharedReferences += this.ownReferences.length
    this.ownReferences.length = 0
  }

  private count(): void {
    for (const surface of MAP_SURFACES) countChanges(this.counts[surface], this.maps[surface].changes())
  }
}

function countChanges(counts: Map<string, number>, changes: readonly Change<JsonObject>[]): void {
  for (const { before, after } of changes) {
    if (before !== undefined) add(counts, statusOf(before), -1)
    add(counts, statusOf(after), 1)
  }
}

function add(counts: Map<string, number>, status: string, by: number): void {
  const now = (counts.get(status) ?? 0) + by
  if (now === 0) counts.delete(status)
  else counts.set(status, now)
}

/** A loop has no status of its own. */
function statusOf(entity: JsonObject): string {
  const { status, completed } = entity
  if (typeof status === 'string') return status
  return completed === true ? 'COMPLETED' : completed === false ? 'RUNNING' : 'UNKNOWN'
}

export function each<V>(make: (surface: MapSurface) => V): Record<MapSurface, V> {
  return {
    stages: make('stages'),
    frames: make('frames'),
    commands: make('commands'),
    business_objects: make('business_objects'),
    loops: make('loops'),
  }
}
