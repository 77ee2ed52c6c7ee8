// Stores events that come from elsewhere, by HTTP or from the stream. Good ones are stored, known ones are
// counted, and one that cannot be stored is set aside with its reason without holding up the others. Only a
// fault of our own servers fails the call, so that the sender tries again.

import type { Databases } from '../../db/databases.js'
import { type ParsedEnvelope, parseEnvelope } from '../../domain/events/envelope.js'
import { startPathOf } from '../../domain/events/startPath.js'
import { wireTimeFromMillis } from '../../domain/events/wireTime.js'
import { parseJsonStrict } from '../../domain/json/parse.js'
import type { JsonValue } from '../../domain/json/value.js'
import { INPUT_DEPTH_MAX } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { CpError, isOwnTrouble, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { isolateRefused } from '../../runtime/isolateRefused.js'
import { quarantine } from '../../stores/projector/quarantineStore.js'
import type { Appender } from '../events/appender.js'
import type { AppendItem, AppendOutcome } from '../events/appendInTx.js'
import { clashMessage } from '../events/ingest.js'
import { resolveClaimCheck, withinBudget } from '../outbox/claimCheck.js'
import type { PayloadFetch } from '../outbox/inThread/payloadFetch.js'

export interface ProjectorDeps {
  databases: Databases
  appender: Appender
  clock: Clock
  onQuarantined?: () => void
  /** For messages that only refer to their payload. */
  fetchPayload?: PayloadFetch | undefined
}

export interface Projected {
  projected: number
  duplicates: number
  quarantined: number
}

/** An envelope as it arrived: text that may not even be JSON, or a value. `refusal`: already known to be unusable. */
export type Arrival = { bytes: Uint8Array; refusal?: string } | { value: JsonValue }

interface Candidate {
  arrival: Arrival
  parsed: ParsedEnvelope
  item: AppendItem
}

/** What could not be tried because a server of ours is away; everything else is settled. */
export interface Untried {
  arrivals: ReadonlySet<Arrival>
  error: CpError
}

/** For all payloads of one call together; below the time after which the stream delivers a message again. */
const PAYLOADS_MS = 20_000

/** The same, with a time for all payloads that are fetched through it. */
export function forOneBatch<D extends ProjectorDeps>(deps: D): D {
  return { ...deps, fetchPayload: withinBudget(deps.fetchPayload, PAYLOADS_MS, deps.clock) }
}

export async function projectEnvelopes(
  deps: ProjectorDeps,
  arrivals: readonly Arrival[],
  source: string,
): Promise<Projected> {
  const { result, untried } = await projectWhatCanBe(forOneBatch(deps), arrivals, source)
  if (untried !== undefined) throw untried.error
  return result
}

/** One dead shard leaves its own envelopes untried and nobody else's. */
export async function projectWhatCanBe(
  deps: ProjectorDeps,
  arrivals: readonly Arrival[],
  source: string,
): Promise<{ result: Projected; untried: Untried | undefined }> {
  const result: Projected = { projected: 0, duplicates: 0, quarantined: 0 }
  const untried = new Set<Arrival>()
  let firstError: CpError | undefined
  const leave = (left: readonly Arrival[], error: unknown): void => {
    if (!isOwnTrouble(error)) throw error
    firstError ??= toCpError(error)
    for (const arrival of left) untried.add(arrival)
  }
  const setAside = async (arrival: Arrival, reason: string, parsed?: ParsedEnvelope): Promise<void> => {
    await quarantine(deps.databases.cluster.db, {
      eventId: parsed?.event.eventId,
      executionId: parsed?.event.executionId,
      envelope: bytesOf(arrival),
      reason,
      source,
    })
    result.quarantined += 1
    deps.onQuarantined?.()
  }

  const byExecution = new Map<string, Candidate[]>()
  for (const arrival of arrivals) {
    try {
      const candidate = toCandidate(deps, arrival, await wholeOf(deps, arrival))
      const known = byExecution.get(candidate.item.event.executionId)
      if (known === undefined) byExecution.set(candidate.item.event.executionId, [candidate])
      else known.push(candidate)
    } catch (error) {
      if (isOwnTrouble(error)) leave([arrival], error)
      else await setAside(arrival, toCpError(error).message).catch((failure: unknown) => leave([arrival], failure))
    }
  }

  const settle = async (candidate: Candidate, outcome: AppendOutcome | CpError): Promise<void> => {
    if (outcome instanceof CpError) {
      if (isOwnTrouble(outcome)) throw outcome
      await setAside(candidate.arrival, outcome.message, candidate.parsed)
    } else if (outcome.kind === 'stored') result.projected += 1
    else if (outcome.kind === 'conflict')
      await setAside(candidate.arrival, clashMessage(outcome.eventId), candidate.parsed)
    else if (outcome.kind === 'refused') await setAside(candidate.arrival, outcome.reason, candidate.parsed)
    else result.duplicates += 1
  }

  // Side by side: the appender joins them into few transactions and keeps each execution's order.
  await Promise.all(
    [...byExecution.values()].map(async (candidates) => {
      const outcomes = await isolateRefused(candidates, (some) => deps.appender.append(some.map(({ item }) => item)))
      for (const [index, candidate] of candidates.entries()) {
        await settle(candidate, outcomes[index]!).catch((failure: unknown) => leave([candidate.arrival], failure))
      }
    }),
  )
  return { result, untried: firstError && { arrivals: untried, error: firstError } }
}

/** What arrived, with the payload fetched if it was only referred to. Throws `unavailable` when that must wait. */
export async function wholeOf(deps: ProjectorDeps, arrival: Arrival): Promise<JsonValue> {
  if ('refusal' in arrival && arrival.refusal !== undefined) throw new CpError('invalid_input', arrival.refusal)
  const value = 'value' in arrival ? arrival.value : parseBytes(arrival.bytes)
  return resolveClaimCheck(value, deps.fetchPayload)
}

function toCandidate(deps: ProjectorDeps, arrival: Arrival, value: JsonValue): Candidate {
  const parsed = parseEnvelope(value, { now: wireTimeFromMillis(deps.clock.now()) })
  const { event } = parsed
  // 0 stands for "not said"; the execution's own entry is used then.
  const known = event.catalogId === '0' ? { ...event, catalogId: undefined } : event
  return {
    arrival,
    parsed,
    item: {
      event: known,
      idGiven: true,
      publish: false,
      createExecution: true,
      path: startPathOf(event),
    },
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function parseBytes(bytes: Uint8Array): JsonValue {
  try {
    return parseJsonStrict(decoder.decode(bytes), { maxDepth: INPUT_DEPTH_MAX })
  } catch (error) {
    throw new CpError('invalid_input', `not a readable envelope: ${toCpError(error).message}`, { cause: error })
  }
}

function bytesOf(arrival: Arrival): Uint8Array {
  return 'bytes' in arrival ? arrival.bytes : Buffer.from(writeJson(arrival.value))
}
