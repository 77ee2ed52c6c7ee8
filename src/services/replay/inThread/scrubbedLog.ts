// One execution whose log can be looked at anywhere: its tape, its keyframes, and the way to keep both in step with the
// log. New events are added at the end; one that arrives below the last id throws away what comes after its place, and
// the epoch is raised, because places have moved.
import type { Connection } from '../../../db/connection.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { integerValue } from '../../../domain/json/value.js'
import { Keyframes } from '../../../domain/replay/keyframes/keyframes.js'
import type { LogState } from '../../../domain/replay/keyframes/logState.js'
import { REGISTRY_DIGEST } from '../../../domain/replay/schemaLabel.js'
import { GrowingIds } from '../../../domain/tape/growingIds.js'
import { TapeRecorder } from '../../../domain/tape/tapeRecorder.js'
import { CpError } from '../../../errors.js'
import { createRowReader, tapeMarkOf } from '../../../stores/replay/replayRows.js'
import {
  countLog,
  type LogChange,
  type LogOwner,
  type LogRange,
  type ReadSoFar,
  readLog,
  readNews,
  readPiece,
  readStragglers,
} from '../../../stores/replay/replayStore.js'
import { onSnapshot, type WorkerDatabase } from './database.js'

const PAGE_SIZE = 2_000
const STRAGGLERS_MAX = 10_000
const SEGMENTS_MAX = 3
const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

export interface Reached {
  state: LogState
  /** What the last event changed. */
  touched: ReturnType<LogState['touched']>
  /** The position of the keyframe that it started from. */
  keyframe: number
  folded: number
  /** The state at another position of the same log, if it was asked for. */
  other: LogState | undefined
}

export class ScrubbedLog {
  tape: TapeRecorder
  readonly ids = new GrowingIds()
  /** How many events there are, as far as known; the tape may still have fewer. */
  total = 0
  private keyframes: Keyframes
  private lateEvents = 0
  private knownVersion = '0'
  private isWhole = false
  private settled = false
  /** Events read for jumps, by the position of their keyframe. */
  private readonly segments = new Map<number, JsonObject[]>()
  private readonly toEvent = createRowReader()

  constructor(
    private readonly database: WorkerDatabase,
    readonly executionId: string,
    readonly owner: LogOwner,
    private readonly mark: string,
    private readonly bytesMax: number,
    /** To read all of it; each question has no longer than any other has. */
    private readonly deadlineMs: number,
  ) {
    this.keyframes = this.openKeyframes(0)
    this.tape = new TapeRecorder(this.keyframes.shared.index)
  }

  get epoch(): string {
    return `${this.mark}.${this.lateEvents}`
  }

  get bytes(): number {
    return this.tape.bytes + this.ids.bytes + this.keyframes.bytes
  }

  /** Events folded for a jump, at most. */
  get distance(): number {
    return this.keyframes.step
  }

  /** What is on the tape stays where it is, although more of the log may still have to be read. */
  get isSettled(): boolean {
    return this.settled
  }

  /** To its end, as far as known. */
  get isRead(): boolean {
    return this.isWhole
  }

  /** Whether the log is still the one that was read; false: it is somebody else's, or its end is gone. */
  async check(connection: Connection): Promise<'current' | 'behind' | 'another'> {
    const news = await readNews(connection, this.read, this.database.statementTimeoutMs)
    if (!this.isMine(news)) return 'another'
    const isSame = this.isWhole && !news.has_late && !news.has_unnumbered && (news.version ?? '0') === this.knownVersion
    if (isSame) return 'current'
    this.settled = false
    return 'behind'
  }

  /** Reads what is new. `goesOn` is asked after each page; what was read until then is kept. */
  async catchUp(goesOn: () => boolean): Promise<void> {
    await onSnapshot(this.database, this.deadlineMs, async (snapshot) => {
      const { connection } = snapshot
      const leftMs = (): number => Math.min(snapshot.leftMs(), this.database.statementTimeoutMs)
      const news = await readNews(connection, this.read, leftMs())
      if (!this.isMine(news)) throw anotherLog(this.executionId)
      // To count a log takes as long as to read a part of it; nobody needs to know exactly before it is read.
      const isNew = this.ids.length === 0 && news.event_count > 0
      this.total = isNew ? news.event_count : await countLog(connection, this.read, snapshot.leftMs())
      if (this.ids.length === 0) {
        this.keyframes = this.openKeyframes(this.total)
        this.tape = new TapeRecorder(this.keyframes.shared.index)
      } else if (news.has_late || news.has_unnumbered) await this.takeStragglers(connection, leftMs())
      this.isWhole = false
      this.settled = true
      // Every version that is visible here is read below, or stands above where the reading ends.
      this.knownVersion = news.version ?? '0'
      const from = this.ids.length === 0 ? INT64_MIN : this.ids.at(this.ids.length) + 1n
      let isWanted = true
      await readLog(connection, this.range(from, INT64_MAX), {
        leftMs,
        onRow: (row) => {
          if (!isWanted) return false
          this.keyframes.append(this.toEvent(row))
          const { view } = this.keyframes
          const { timeMs, version } = tapeMarkOf(row)
          this.tape.add(view, timeMs, version)
          this.ids.push(BigInt(view.id!))
          return true
        },
        onPage: () => {
          // What was left out stays left out, although somebody may have come back meanwhile.
          isWanted &&= goesOn()
          this.total = Math.max(this.total, this.ids.length)
        },
      })
      this.isWhole = isWanted
      if (isWanted) this.total = this.ids.length
    })
  }

  async stateAt(connection: Connection, position: number, otherPosition?: number): Promise<Reached> {
    const before = Math.max(0, position - 1)
    const { epoch } = this
    const other = otherPosition === undefined ? undefined : (await this.stateAt(connection, otherPosition)).state
    const frame = this.keyframes.before(before)
    const events = await this.eventsAfter(connection, frame.position, position)
    if (this.epoch !== epoch) throw this.moved()
    const state = this.keyframes.stateFrom(frame)
    for (let index = 0; index < before - frame.position; index++) state.apply(events[index]!)
    state.seal()
    if (position > 0) state.apply(events[position - frame.position - 1]!)
    return { state, touched: state.touched(), keyframe: frame.position, folded: position - frame.position, other }
  }

  limit(bytesMax: number): void {
    this.keyframes.limit(bytesMax)
    this.segments.clear()
  }

  private get read(): ReadSoFar {
    const lastEventId = this.ids.length === 0 ? '-1' : String(this.ids.at(this.ids.length))
    return { executionId: this.executionId, owner: this.owner, lastEventId, knownVersion: this.knownVersion }
  }

  private isMine(news: LogChange): boolean {
    const { tenant_id, organization_id } = this.owner
    if (!news.is_known || news.tenant_id !== tenant_id || news.organization_id !== organization_id) return false
    return this.ids.length === 0 || news.has_last
  }

  private openKeyframes(expected: number): Keyframes {
    const { tenant_id: tenantId, organization_id: organizationId } = this.owner
    const executionId = integerValue(BigInt(this.executionId))
    const options = { tenantId, organizationId, executionId, upcasterRegistryDigest: REGISTRY_DIGEST }
    return new Keyframes(options, expected, this.bytesMax)
  }

  /** Events that came in below what was read, and those that merely got their number. */
  private async takeStragglers(connection: Connection, deadlineMs: number): Promise<void> {
    const found = await readStragglers(connection, this.read, STRAGGLERS_MAX, deadlineMs)
    let place: number | undefined = found.length === STRAGGLERS_MAX ? 0 : undefined
    let hasNumbered = false
    for (const { event_id: text, stream_version: version } of found) {
      const id = BigInt(text)
      if (!this.ids.has(id)) place = Math.min(place ?? Number.POSITIVE_INFINITY, this.ids.upTo(id))
      else if (this.tape.renumber(this.ids.upTo(id), Number(version ?? 0))) hasNumbered = true
    }
    // Whoever has the tape must read what was there before again.
    if (hasNumbered) this.lateEvents++
    if (place === undefined) return
    const kept = this.keyframes.rewind(place)
    this.tape.cut(kept)
    this.ids.cut(kept)
    this.segments.clear()
    this.lateEvents++
  }

  /** The events after a keyframe, up to a position. */
  private async eventsAfter(
    connection: Connection,
    keyframe: number,
    position: number,
  ): Promise<readonly JsonObject[]> {
    let events = this.segments.get(keyframe) ?? []
    const wanted = position - keyframe
    if (events.length < wanted) {
      const { epoch } = this
      const range = this.range(this.ids.at(keyframe + events.length + 1), this.ids.at(position))
      const more: JsonObject[] = []
      await readPiece(connection, range, this.database.statementTimeoutMs, (row) => more.push(this.toEvent(row)))
      events = [...events, ...more]
      // What came late while we read is not among them.
      if (events.length !== wanted || this.epoch !== epoch) throw this.moved()
    }
    this.segments.delete(keyframe)
    this.segments.set(keyframe, events)
    for (const [key] of this.segments) if (this.segments.size > SEGMENTS_MAX) this.segments.delete(key)
    return events
  }

  /** Something came in or went in between; whoever asks again is told how it is now. */
  private moved(): CpError {
    const message = `the log of execution ${this.executionId} has changed meanwhile; ask again`
    return new CpError('conflict', message, { details: { moved: true } })
  }

  private range(fromEventId: bigint, toEventId: bigint): LogRange {
    return {
      executionId: this.executionId,
      tenantId: this.owner.tenant_id,
      organizationId: this.owner.organization_id,
      columns: 'tape',
      fromEventId,
      toEventId,
      untilTime: null,
      untilVersion: null,
      pageSize: PAGE_SIZE,
    }
  }
}

/** It is somebody else's by now, or its end is gone, or all of it: whoever asks must find out whose it is. */
export function anotherLog(executionId: string): CpError {
  const message = `the log of execution ${executionId} is another than before; ask again`
  return new CpError('conflict', message, { details: { another: true } })
}
