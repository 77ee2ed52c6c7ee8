// Promise: events that are folded as they come give the very answer that they give as a whole list, for every vector,
// cutoff and limit; and events that do not come in order are noticed.
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import { inIdOrder } from '../../src/domain/replay/eventIntake.js'
import { FOLD_PROFILES, type FoldProfile } from '../../src/domain/replay/profile.js'
import type { ReplayQuery } from '../../src/domain/replay/replayQuery.js'
import { createStreamedReplay, type FileReplay, replayEvents } from '../../src/services/replay/fileReplay.js'
import { parseReplayRequest } from '../../src/services/replay/request.js'
import { readVectors } from './replayVectors.js'

const LOG = readVectors('replay').find(({ name }) => name === 'cutoff-event-id')!.input['log'] as JsonObject[]
const ORDERED = inIdOrder(LOG)
const LAST = String(ORDERED.at(-1)!['event_id'])

function queryOf(profile: FoldProfile, parameters: Record<string, string>): ReplayQuery {
  return parseReplayRequest(profile, { execution_id: '9001', ...parameters }).query
}

function streamed(profile: FoldProfile, query: ReplayQuery, events: readonly JsonObject[]): FileReplay | null {
  const replay = createStreamedReplay(profile, query)
  for (const event of events) if (!replay.add(event)) return null
  return replay.finish()
}

function answer(replayed: FileReplay | null) {
  if (replayed === null) return null
  const { truncated, nextEventId, eventsRead, warnings } = replayed
  const document = Buffer.from(replayed.document()).toString()
  return { truncated, nextEventId, eventsRead, warnings, document, timeline: replayed.timeline() }
}

describe('as of a time', () => {
  const event = (id: number, times: JsonObject): JsonObject => ({
    execution_id: 9001,
    event_id: id,
    event_type: 'x',
    ...times,
  })
  const early = '2026-01-01T00:00:00Z'
  const late = '2026-03-01T00:00:00Z'
  const read = (profile: FoldProfile, events: JsonObject[]) =>
    replayEvents(profile, queryOf(profile, { as_of_time: '2026-02-01T00:00:00Z' }), events).eventsRead

  it('goes by when events came in, and by their own time where a file does not say', () => {
    expect(read('cp', [event(1, { ingest_time: early, created_at: late, event_time: late })])).toBe(1)
    expect(read('cp', [event(1, { ingest_time: late, created_at: early, event_time: early })])).toBe(0)
    expect(read('cp', [event(1, { created_at: early, event_time: late }), event(2, { timestamp: early })])).toBe(2)
    expect(read('cp', [event(1, { timestamp: late }), event(2, { event_time: early })])).toBe(1)
  })
  it('goes by what the sender said in profile python', () => {
    expect(read('python', [event(1, { ingest_time: late, created_at: late, event_time: early })])).toBe(1)
  })
})

describe.each(FOLD_PROFILES)('profile %s', (profile) => {
  it.each([
    {},
    { limit: '3' },
    { limit: '1' },
    { as_of_event_id: '130' },
    { as_of_event_id: '130', limit: '2' },
    { as_of_time: '2026-03-01T00:01:10Z' },
    { projection: 'command' },
    { execution_id: '1' },
  ] as Record<string, string>[])('gives the same answer either way: %j', (parameters) => {
    const query = queryOf(profile, parameters)
    const whole = answer(replayEvents(profile, query, ORDERED))
    expect(answer(streamed(profile, query, ORDERED))).toEqual(whole)
    const twice = ORDERED.flatMap((event) => [event, { ...event }])
    expect(answer(streamed(profile, query, twice))).toEqual(answer(replayEvents(profile, query, twice)))
  })

  it('notices another order, also beyond the limit', () => {
    for (const parameters of [{}, { limit: '1' }]) {
      const query = queryOf(profile, parameters)
      expect(streamed(profile, query, [...ORDERED.slice(1), ORDERED[0]!])).toBeNull()
      expect(streamed(profile, query, [...ORDERED].reverse())).toBeNull()
    }
  })

  it('does not mind the order of events beyond the cutoff', () => {
    const query = queryOf(profile, { as_of_event_id: '130' })
    const beyond = { ...ORDERED.at(-1)!, event_id: Number(LAST) + 1 }
    const events = [beyond, ...ORDERED]
    expect(answer(streamed(profile, query, events))).toEqual(answer(replayEvents(profile, query, events)))
  })

  it('refuses a version where no event has one, and takes it where they do', () => {
    const query = queryOf(profile, { as_of_version: '2' })
    const bare = ORDERED.map(({ stream_version: _version, ...event }) => event as JsonObject)
    expect(() => streamed(profile, query, bare)).toThrow(/no stream_version/)
    expect(() => replayEvents(profile, query, bare)).toThrow(/no stream_version/)
    const numbered = bare.map((event, index) => ({ ...event, stream_version: index + 1 }))
    expect(answer(streamed(profile, query, numbered))).toEqual(answer(replayEvents(profile, query, numbered)))
  })
})
