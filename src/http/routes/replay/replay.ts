// Replay over HTTP: the state of an execution at any moment, and what changed between two. The documents come
// ready from a worker thread; here they only get their headers.
import type { FoldProfile } from '../../../domain/replay/profile.js'
import {
  type DiffSummary,
  diffExecution,
  outcomeOf,
  type ReplayDeps,
  replayExecution,
} from '../../../services/replay/replay.js'
import { parseDiffRequest, parseReplayRequest } from '../../../services/replay/request.js'
import type { RouteSpec } from '../../route.js'
import { ANY, answerOf, COUNT, FLAG, TEXT } from '../../schema.js'

export interface ReplayRouteDeps {
  replay: ReplayDeps
  /** Of requests that name none. */
  replayProfile: FoldProfile
}

const WHOSE = {
  execution_id: { format: 'int64', description: 'required' },
  tenant_id: { type: 'string', default: 'default' },
  organization_id: { type: 'string', default: 'default' },
  profile: { type: 'string', description: 'cp (usual), python or server' },
} as const

const SIDE = answerOf({ moment: TEXT, checksum: TEXT, event_count: COUNT, may_change: FLAG })

export function replayRoutes(deps: ReplayRouteDeps): RouteSpec[] {
  return [stateRoute(deps), diffRoute(deps)]
}

function stateRoute({ replay, replayProfile }: ReplayRouteDeps): RouteSpec {
  return {
    method: 'GET',
    path: '/api/replay/state',
    summary: 'The state of an execution, folded from its events, now or at an earlier moment',
    access: 'public',
    effect: 'read',
    query: {
      ...WHOSE,
      as_of_event_id: { format: 'int64', description: 'up to this event; at most one as_of parameter' },
      as_of_position: { format: 'int64', description: 'an older name of as_of_event_id' },
      as_of_version: { format: 'int64', description: "up to this number within the execution's log" },
      as_of_time: {
        type: 'string',
        description: 'what had come into the log by this time, to the microsecond (python: by the time events say)',
      },
      projection: { type: 'string', default: 'all' },
      limit: {
        type: 'integer',
        default: 10_000,
        description: 'events at most, 1 to 100000; the answer says if it is partial',
      },
      resolve_payloads: {
        type: 'boolean',
        default: false,
        description: 'read what the events refer to, and report its size, rows and checksum',
      },
      ids: { type: 'string', description: 'number (usual) or string, for clients that lose digits' },
      from_snapshot: { type: 'boolean', description: 'start from a stored snapshot if there is a usable one' },
    },
    responses: {
      200: {
        type: 'object',
        properties: {
          checksum: TEXT,
          checksum_algorithm: TEXT,
          projection_checksums: { type: 'object' },
          execution: ANY,
        },
        description:
          'the state; an unknown execution has an empty one. X-Noetl-Truncated and X-Noetl-Next-Event-Id tell of a partial answer, X-Noetl-May-Change of one for a time with open writes, X-Noetl-Seed of the snapshot, X-Noetl-Redacted of secrets hidden after the checksum was made',
      },
      400: 'malformed or contradictory parameters',
      503: 'too busy, or the deadline passed',
    },
    handler: async ({ query, signal }) => {
      const request = parseReplayRequest(replayProfile, query)
      const output = await replayExecution(replay, { ...request, remarks: 'always' }, { signal })
      const headers: Record<string, string> = {
        'x-noetl-fold-profile': request.profile,
        'x-noetl-checksum': output.checksum,
        'x-noetl-truncated': String(output.truncated),
        'x-noetl-may-change': String(output.mayChange),
        'x-noetl-redacted': String(output.isRedacted),
      }
      if (output.nextEventId !== null) headers['x-noetl-next-event-id'] = output.nextEventId
      if (request.fromSnapshot) headers['x-noetl-seed'] = outcomeOf(output.seed)
      return { headers, bytes: output.document }
    },
  }
}

function diffRoute({ replay, replayProfile }: ReplayRouteDeps): RouteSpec {
  return {
    method: 'GET',
    path: '/api/replay/diff',
    summary: 'What changed in an execution between two moments, as JSON pointers',
    access: 'public',
    effect: 'read',
    query: {
      ...WHOSE,
      projection: { type: 'string', default: 'all' },
      from: { type: 'string', description: 'event:<id>, version:<n>, time:<time>, snapshot or now' },
      to: { type: 'string', description: 'the same; now if it is left out' },
    },
    responses: {
      200: {
        type: 'object',
        properties: {
          equal: FLAG,
          count: COUNT,
          from: SIDE,
          to: SIDE,
          differences: { type: 'array', items: answerOf({ pointer: TEXT, kind: TEXT, from: ANY, to: ANY }) },
        },
      },
      400: 'malformed parameters',
      404: 'there is no snapshot to compare with',
    },
    handler: async ({ query, signal }) => {
      const output = await diffExecution(replay, parseDiffRequest(replayProfile, query), { signal })
      const head = JSON.stringify({
        equal: output.count === 0,
        count: output.count,
        from: sideJson(query['from']!, output.from),
        to: sideJson(query['to'] ?? 'now', output.to),
      })
      // The list is lossless JSON text already; reading it here would only cost time.
      return { bytes: Buffer.from(`${head.slice(0, -1)},"differences":${output.differences}}`) }
    },
  }
}

function sideJson(moment: string, { checksum, eventCount, mayChange }: DiffSummary) {
  return { moment, checksum, event_count: eventCount, may_change: mayChange }
}
