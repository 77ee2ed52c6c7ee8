// What the thread of tapes and keyframes can be asked for. It holds the logs that were looked at last, within a bound of
// bytes; one of them is read at a time, and no further once nobody waits for it. What was read until then is kept.
import { gzipSync } from 'node:zlib'
import { type Connection, createConnection } from '../../../db/connection.js'
import { redactText } from '../../../domain/secrets/redact.js'
import { secretRules } from '../../../domain/secrets/secretNames.js'
import { encodeTape } from '../../../domain/tape/encodeTape.js'
import { CpError } from '../../../errors.js'
import { createOneAtATime, type OneAtATime } from '../../../runtime/oneAtATime.js'
import type { LogOwner } from '../../../stores/replay/replayStore.js'
import { openSettings, type WorkerDatabase } from './database.js'
import { withPassingBytes } from './passingBytes.js'
import { positionOf, type ScrubParts, type ScrubPlace, shownAt } from './scrubAnswers.js'
import { anotherLog, ScrubbedLog } from './scrubbedLog.js'

/** Given to the thread when it starts. */
export interface TapeSetup {
  /** By shard. */
  databases: readonly WorkerDatabase[]
  bytesMax: number
  deadlineMs: number
  /** Further names of secrets; null hides nothing. */
  secretNames: readonly string[] | null
}

export interface TapeQuestion {
  shard: number
  executionId: string
  owner: LogOwner
  /** Begins the epochs of a log that is read for the first time. */
  mark: string
  /** One number; not 0 once nobody waits for the answer any more. */
  cancelled: SharedArrayBuffer
}

export interface TapeTasks {
  tape(
    question: TapeQuestion & {
      level: 'auto' | 'full' | 'coarse'
      from: number
      to: number
      waitMs: number
      gzip: boolean
    },
  ): Promise<{ bytes: Uint8Array; epoch: string; total: number; built: number }>
  at(question: TapeQuestion & { place: ScrubPlace; timeMs: number; parts: ScrubParts }): Promise<{ bytes: Uint8Array }>
  checksum(question: TapeQuestion & { place: ScrubPlace; timeMs: number }): Promise<{
    position: number
    eventId: string | null
    checksum: string
    projections: Record<string, string>
    epoch: string
    ms: number
  }>
  /** What is held: logs and about how many bytes. */
  stats(input: Record<string, never>): Promise<{ logs: number; bytes: number }>
}

interface Held {
  log: ScrubbedLog
  waiters: Set<Int32Array>
  /** The reading under way. */
  reading: Promise<void> | undefined
  turns: OneAtATime
}

const SHOWN_EVERY_MS = 20

export function openTapes(setup: TapeSetup): TapeTasks {
  /** The longest unused first. */
  const held = new Map<string, Held>()
  const connections = new Map<number, Connection>()
  const readers = createOneAtATime()
  const rules = setup.secretNames === null ? null : secretRules(setup.secretNames)

  const connectionOf = (shard: number): Connection => {
    let connection = connections.get(shard)
    if (connection === undefined || connection.isBroken()) {
      connection = createConnection(openSettings(setup.databases[shard]!))
      connections.set(shard, connection)
    }
    return connection
  }

  const holdingOf = (question: TapeQuestion): Held => {
    const { executionId, shard, owner, mark } = question
    let known = held.get(executionId)
    if (known !== undefined && !isOwner(owner, known.log.owner)) known = undefined
    const entry: Held = known ?? {
      log: new ScrubbedLog(setup.databases[shard]!, executionId, owner, mark, setup.bytesMax, setup.deadlineMs),
      waiters: new Set(),
      reading: undefined,
      turns: createOneAtATime(),
    }
    held.delete(executionId)
    held.set(executionId, entry)
    return entry
  }

  /** The log as it is now, or on its way there: `reading` says. */
  const open = async (question: TapeQuestion): Promise<Held> => {
    const entry = holdingOf(question)
    if (entry.reading !== undefined) return entry
    // What was never read is looked at while it is read.
    const isNew = !entry.log.isRead && entry.log.ids.length === 0
    const state = isNew ? 'behind' : await entry.log.check(connectionOf(question.shard))
    if (state === 'another') {
      if (held.get(question.executionId) === entry) held.delete(question.executionId)
      throw anotherLog(question.executionId)
    }
    if (state !== 'current') entry.reading ??= read(entry)
    return entry
  }

  const read = (entry: Held): Promise<void> => {
    const reading = readers(() => entry.log.catchUp(() => [...entry.waiters].some(isWaiting))).finally(() => {
      entry.reading = undefined
      shrink(entry)
    })
    // Whoever waits is told; the thread must not end of it.
    reading.catch(() => undefined)
    return reading
  }

  const shrink = (kept: Held): void => {
    const total = (): number => [...held.values()].reduce((sum, { log }) => sum + log.bytes, 0)
    for (const [id, entry] of held) {
      if (total() <= setup.bytesMax) return
      if (entry !== kept && entry.reading === undefined) held.delete(id)
    }
    if (total() > setup.bytesMax) kept.log.limit(Math.max(0, setup.bytesMax - (total() - kept.log.bytes)) / 2)
  }

  /** Runs the work as soon as the log is far enough, and once more if it changed in between. */
  const answer = async <T>(
    question: TapeQuestion,
    isFarEnough: (log: ScrubbedLog) => boolean,
    work: (log: ScrubbedLog, connection: Connection) => Promise<T>,
    /** What there is by then will do; otherwise the whole is waited for until the deadline. */
    partlyAfterMs?: number,
  ): Promise<T> => {
    const waitMs = partlyAfterMs ?? setup.deadlineMs
    const waiter = new Int32Array(question.cancelled)
    const started = performance.now()
    let hasMoved = false
    for (;;) {
      const entry = await open(question)
      entry.waiters.add(waiter)
      try {
        while (entry.reading !== undefined && !isFarEnough(entry.log)) {
          if (!isWaiting(waiter)) throw gone()
          if (performance.now() - started > waitMs) break
          await Promise.race([entry.reading, pause(SHOWN_EVERY_MS)])
        }
        // It was broken off for those who had gone before this one came.
        const isLate = performance.now() - started > waitMs
        if (entry.reading === undefined && !entry.log.isRead && !isFarEnough(entry.log) && !isLate) continue
        const isShort = !entry.log.isRead && !isFarEnough(entry.log)
        if (isShort && partlyAfterMs === undefined) throw tooLate(question.executionId)
        return await entry.turns(() => {
          if (!isWaiting(waiter)) throw gone()
          return work(entry.log, connectionOf(question.shard))
        })
      } catch (error) {
        if (!(error instanceof CpError) || error.details['moved'] !== true || hasMoved) throw error
        hasMoved = true
      } finally {
        entry.waiters.delete(waiter)
      }
    }
  }

  return {
    tape: (question) =>
      answer(
        question,
        () => false,
        async (log) => {
          const { executionId, level, from, to } = question
          const clean = (name: string): string => (rules === null ? name : redactText(name, rules))
          const piece = { executionId, epoch: log.epoch, total: log.total, level, from, to, clean }
          return {
            bytes: question.gzip
              ? withPassingBytes((make) => gzipSync(encodeTape(log.tape, piece, make), { level: 1 }))
              : encodeTape(log.tape, piece),
            epoch: log.epoch,
            total: log.total,
            built: log.tape.length,
          }
        },
        question.waitMs,
      ),
    at: (question) =>
      answer(question, isReached(question.place, question.parts.since), async (log, connection) => {
        const started = performance.now()
        const { place, timeMs, parts } = question
        const position = positionOf(log, place, timeMs)
        const since = parts.since === undefined ? undefined : positionOf(log, placeAt(parts.since), 0)
        const reached = await log.stateAt(connection, position, since)
        const goOn = stillWanted(question)
        return { bytes: shownAt(log, reached, parts, performance.now() - started, setup.secretNames, goOn) }
      }),
    checksum: (question) =>
      answer(question, isReached(question.place), async (log, connection) => {
        const started = performance.now()
        const { state } = await log.stateAt(connection, positionOf(log, question.place, question.timeMs))
        const { checksum, projections } = state.checksums(stillWanted(question))
        const { position } = state
        return {
          position,
          eventId: position === 0 ? null : String(log.ids.at(position)),
          checksum,
          projections,
          epoch: log.epoch,
          ms: performance.now() - started,
        }
      }),
    stats: async () => ({
      logs: held.size,
      bytes: [...held.values()].reduce((sum, { log }) => sum + log.bytes, 0),
    }),
  }
}

function placeAt(position: number): ScrubPlace {
  return { by: 'position', value: String(position) }
}

/** While a log is read, places that are on the tape already can be looked at. */
function isReached(place: ScrubPlace, since = 0): (log: ScrubbedLog) => boolean {
  return ({ ids, tape, isSettled }) => {
    if (!isSettled || since > tape.length) return false
    if (place.by === 'position') return Number(place.value) <= tape.length
    return place.by === 'event' && ids.length > 0 && BigInt(place.value) <= ids.at(ids.length)
  }
}

function isOwner(one: LogOwner, other: LogOwner): boolean {
  return one.tenant_id === other.tenant_id && one.organization_id === other.organization_id
}

function isWaiting(waiter: Int32Array): boolean {
  return Atomics.load(waiter, 0) === 0
}

/** Throws once nobody waits any more. */
function stillWanted({ cancelled }: TapeQuestion): () => void {
  const waiter = new Int32Array(cancelled)
  return () => {
    if (!isWaiting(waiter)) throw gone()
  }
}

function tooLate(executionId: string): CpError {
  return new CpError('timeout', `the log of execution ${executionId} is still being read; ask again`)
}

function gone(): CpError {
  return new CpError('timeout', 'nobody waits for this answer any more')
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
