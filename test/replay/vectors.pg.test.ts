// Promise: every golden vector that speaks of a database or of HTTP holds against a real one.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/domain/json/canonical.js'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import type { CpError } from '../../src/errors.js'
import { NOBODY } from '../../src/http/callers.js'
import type { ApiReply } from '../../src/http/route.js'
import { replayRoutes } from '../../src/http/routes/replay/replay.js'
import { useDatabase } from '../support/database.js'
import { clearLogs, type Harness, openReplay, plantLog, plantSnapshot, replay } from './replayHarness.js'
import { readVectors } from './replayVectors.js'

const database = useDatabase()
let harness: Harness

beforeAll(() => {
  harness = openReplay(database.get())
})
afterAll(() => harness.close())
beforeEach(() => clearLogs(database.get()))

describe('replay vectors', () => {
  it.each(readVectors('replay'))('$id $name', async ({ input, expect: expected }) => {
    await plantLog(database.get(), input['log'] as JsonObject[])
    for (const row of (input['snapshots'] ?? []) as JsonObject[]) await plantSnapshot(database.get(), row)
    const query = Object.entries(input['query'] as JsonObject).filter(([, value]) => value !== null)
    const parameters = Object.fromEntries(query.map(([name, value]) => [name, String(value)]))
    const run = replay(harness, parameters, { profile: 'python' })
    if (expected['error'] !== undefined) return expect(run).rejects.toThrow()
    const output = await run
    expect(canonicalJson(output.state)).toBe(canonicalJson(expected['state']!))
    expect(output.checksum).toBe((expected['state'] as JsonObject)['checksum'])
    expect(output.seed.found).toBe(expected['seed_row_found'])
    expect(output.seed.version !== null).toBe(expected['seed_used'])
    expect(output.seed.version).toBe(expected['after_event_id'] === null ? null : String(expected['after_event_id']))
    expect(output.eventsRead).toBe((expected['loaded_event_ids'] as unknown[]).length)
  })
})

// What DECISIONS changed: malformed is 400 on every route.
const STATUS: Readonly<Record<number, number>> = { 422: 400 }

describe('http vectors', () => {
  it.each(readVectors('http'))('$id $name', async ({ input, expect: expected }) => {
    await plantLog(database.get(), input['log'] as JsonObject[])
    const route = replayRoutes({ replay: harness, replayProfile: 'python' }).find(({ path }) => path === input['path'])!
    let reply: ApiReply
    try {
      reply = await route.handler({
        params: {},
        query: input['params'] as Record<string, string>,
        body: undefined,
        rawBody: undefined,
        upload: undefined,
        large: undefined,
        admitted: undefined,
        caller: NOBODY,
        isInternal: false,
        isStillAllowed: () => true,
        headers: {},
        signal: new AbortController().signal,
      })
    } catch (error) {
      const status = expected['status'] as number
      expect((error as CpError).code).toBe('invalid_input')
      expect(STATUS[status] ?? status).toBe(400)
      return
    }
    expect(expected['status']).toBe(200)
    const body = parseJson(Buffer.from(reply.bytes!).toString('utf8'))
    expect(canonicalJson(body)).toBe(canonicalJson(expected['body']!))
  })
})
