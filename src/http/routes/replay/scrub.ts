// An execution at any moment of its life: the tape for the screen, the exact state at a place, and the checksum that
// proves it.
import { parseWireTime, wireTimeToMicros } from '../../../domain/events/wireTime.js'
import { parseExecutionId, parseInt64 } from '../../../domain/ids/ids.js'
import { floatValue } from '../../../domain/json/value.js'
import { MAP_SURFACES, type MapSurface } from '../../../domain/replay/profile.js'
import { CpError } from '../../../errors.js'
import type { Scrubbing, ScrubParts, ScrubPlace } from '../../../services/replay/scrubbing.js'
import { acceptsGzip } from '../../acceptsGzip.js'
import type { RouteSpec } from '../../route.js'
import { ANY, answerOf, COUNT, type Schema, TEXT, TEXT_OR_NULL } from '../../schema.js'

export interface ScrubRouteDeps {
  scrubbing: Pick<Scrubbing, 'tape' | 'at' | 'checksum'>
}

const PLACES_MAX = 100_000_000
const WAIT_MS = 2_000
const WAIT_MS_MAX = 30_000
const PAGE = 100
const PARTS_MAX = 50

const WHERE: NonNullable<RouteSpec['query']> = {
  position: { type: 'integer', minimum: 0, maximum: PLACES_MAX, description: 'so many events have happened' },
  event: { format: 'int64', description: 'up to this event id' },
  version: { format: 'int64', description: 'up to the event of this stream_version' },
  time: { type: 'string', format: 'date-time', description: 'up to the last event that happened by then' },
}

export function scrubRoutes(deps: ScrubRouteDeps): RouteSpec[] {
  return [tapeRoute(deps), atRoute(deps), checksumRoute(deps)]
}

function tapeRoute({ scrubbing }: ScrubRouteDeps): RouteSpec {
  return {
    method: 'GET',
    path: '/api/executions/:execution_id/tape',
    summary: 'The log of an execution as columns for a timeline',
    access: 'public',
    effect: 'read',
    query: {
      level: {
        type: 'string',
        enum: ['auto', 'full', 'coarse'],
        default: 'auto',
        description: 'auto: coarse when there is much',
      },
      from: { type: 'integer', minimum: 1, maximum: PLACES_MAX, default: 1 },
      to: { type: 'integer', minimum: 1, maximum: PLACES_MAX, description: 'the end if it is left out' },
      wait_ms: {
        type: 'integer',
        minimum: 0,
        maximum: WAIT_MS_MAX,
        default: WAIT_MS,
        description: 'for a log that is being read; then what is there is answered',
      },
    },
    responses: {
      200: 'application/octet-stream; X-Noetl-Tape-Epoch, X-Noetl-Tape-Total, X-Noetl-Tape-Built, ETag',
      304: 'the tape that If-None-Match names is still right',
      404: 'unknown execution',
      503: 'too busy',
    },
    handler: async ({ params, query, headers, signal }) => {
      const level = (query['level'] ?? 'auto') as 'auto' | 'full' | 'coarse'
      const from = Number(query['from'] ?? 1)
      const to = Number(query['to'] ?? PLACES_MAX)
      const gzip = acceptsGzip(headers)
      const waitMs = Number(query['wait_ms'] ?? WAIT_MS)
      const tape = await scrubbing.tape(idOf(params), { level, from, to, waitMs, gzip }, signal)
      const tag = `W/"${tape.epoch}-${tape.built}-${tape.total}-${level}-${from}-${to}"`
      const about = {
        etag: tag,
        'cache-control': 'no-cache',
        vary: 'accept-encoding',
        'x-noetl-tape-epoch': tape.epoch,
        'x-noetl-tape-total': String(tape.total),
        'x-noetl-tape-built': String(tape.built),
      }
      if (headers['if-none-match'] === tag) return { status: 304, headers: about, bytes: new Uint8Array() }
      return {
        headers: gzip ? { ...about, 'content-encoding': 'gzip' } : about,
        contentType: 'application/octet-stream',
        bytes: tape.bytes,
      }
    },
  }
}

const ENTITY: Schema = { nullable: true, description: 'as in the state that replay answers' }

function atRoute({ scrubbing }: ScrubRouteDeps): RouteSpec {
  return {
    method: 'GET',
    path: '/api/executions/:execution_id/at',
    summary: 'The state of an execution when so many events had happened, in slices',
    access: 'public',
    effect: 'read',
    query: {
      ...WHERE,
      part: {
        type: 'string',
        default: 'head,counts,touched',
        description:
          'with commas: head, counts, touched, entity:<surface>:<key>, page:<surface>:<from>; a key as in an address, with %2C for a comma',
      },
      since: {
        type: 'integer',
        minimum: 0,
        maximum: PLACES_MAX,
        description: 'also what is different from the state at this position',
      },
    },
    responses: {
      200: answerOf({
        execution_id: TEXT,
        position: COUNT,
        total: COUNT,
        epoch: TEXT,
        event: { ...answerOf({ event_id: TEXT, event_type: TEXT_OR_NULL, node_name: TEXT_OR_NULL }), nullable: true },
        version: TEXT_OR_NULL,
        time: { type: 'string', format: 'date-time', nullable: true },
        head: ANY,
        counts: { type: 'object', description: 'surface → status → number' },
        touched_count: COUNT,
        touched: {
          type: 'array',
          description: 'what the last event changed, at most 200',
          items: answerOf({ surface: TEXT, key: TEXT, before: ENTITY, after: ENTITY }),
        },
        entities: { type: 'array', items: answerOf({ surface: TEXT, key: TEXT, value: ENTITY }) },
        pages: {
          type: 'array',
          items: answerOf({
            surface: TEXT,
            from: COUNT,
            total: COUNT,
            entries: { type: 'array', items: answerOf({ key: TEXT, value: ENTITY }) },
          }),
        },
        since: { ...COUNT, description: 'with `since` alone, as the two below' },
        differences_count: COUNT,
        differences: {
          type: 'array',
          description: 'as `/api/replay/diff` tells them, at most 1,000',
          items: answerOf({ pointer: TEXT, kind: TEXT, from: ANY, to: ANY }),
        },
        cost: answerOf({ keyframe: COUNT, folded: COUNT, ms: { type: 'number' }, distance: COUNT }),
      }),
      400: 'malformed, or beyond the end',
      404: 'unknown execution',
      503: 'too busy',
    },
    handler: async ({ params, query, signal }) => {
      const { place, timeMs } = placeOf(query)
      const since = query['since'] === undefined ? undefined : Number(query['since'])
      const parts: ScrubParts = { ...partsOf(query['part']), since }
      const { bytes } = await scrubbing.at(idOf(params), place, timeMs, parts, signal)
      return { bytes, headers: { 'cache-control': 'no-store' } }
    },
  }
}

function checksumRoute({ scrubbing }: ScrubRouteDeps): RouteSpec {
  return {
    method: 'GET',
    path: '/api/executions/:execution_id/checksum',
    summary: 'The checksum of the state of an execution at a moment, as replay computes it',
    access: 'public',
    effect: 'read',
    query: WHERE,
    responses: {
      200: answerOf({
        execution_id: TEXT,
        position: COUNT,
        event_id: TEXT_OR_NULL,
        epoch: TEXT,
        checksum: TEXT,
        checksum_algorithm: TEXT,
        projection_checksums: { type: 'object', description: 'surface → checksum' },
        ms: { type: 'number' },
      }),
      400: 'malformed, or beyond the end',
      404: 'unknown execution',
      503: 'too busy, or the caller went away',
    },
    handler: async ({ params, query, signal }) => {
      const id = idOf(params)
      const { place, timeMs } = placeOf(query)
      const { position, eventId, epoch, checksum, projections, ms } = await scrubbing.checksum(
        id,
        place,
        timeMs,
        signal,
      )
      return {
        headers: { 'cache-control': 'no-store' },
        body: {
          execution_id: id,
          position,
          event_id: eventId,
          epoch,
          checksum,
          checksum_algorithm: 'sha256',
          projection_checksums: projections,
          ms: floatValue(ms),
        },
      }
    },
  }
}

function idOf(params: Readonly<Record<string, string>>) {
  return parseExecutionId(params['execution_id'], 'execution_id')
}

/** Nothing said means the end. */
function placeOf(query: Readonly<Record<string, string | undefined>>): { place: ScrubPlace; timeMs: number } {
  const given = (['position', 'event', 'version', 'time'] as const).filter((by) => query[by] !== undefined)
  if (given.length > 1) throw new CpError('invalid_input', `give one of ${given.join(' and ')}, not both`)
  const by = given[0]
  if (by === undefined) return { place: { by: 'end' }, timeMs: 0 }
  const value = query[by]!
  if (by === 'event' || by === 'version') return { place: { by, value: parseInt64(value, by) }, timeMs: 0 }
  const time = by === 'time' ? parseWireTime(value, 'time') : undefined
  return { place: { by, value }, timeMs: time === undefined ? 0 : Number(wireTimeToMicros(time)) / 1000 }
}

function partsOf(text = 'head,counts,touched'): ScrubParts {
  const words = text.split(',').filter((word) => word !== '')
  if (words.length > PARTS_MAX) throw new CpError('invalid_input', `part has more than ${PARTS_MAX} parts`)
  const parts: ScrubParts = { head: false, counts: false, touched: false, entities: [], pages: [] }
  for (const word of words) {
    const [, kind, surface, rest] = /^(entity|page):(\w+):(.*)$/s.exec(word) ?? []
    if (word === 'head' || word === 'counts' || word === 'touched') parts[word] = true
    else if (kind === 'entity') parts.entities.push({ surface: surfaceOf(surface), key: keyOf(rest!) })
    else if (kind === 'page' && /^[0-9]{1,9}$/.test(rest!)) {
      parts.pages.push({ surface: surfaceOf(surface), from: Number(rest), count: PAGE })
    } else {
      throw new CpError(
        'invalid_input',
        `part ${JSON.stringify(word.slice(0, 100))} is none of head, counts, touched, entity:<surface>:<key>, page:<surface>:<from>`,
      )
    }
  }
  return parts
}

function surfaceOf(text: string | undefined): MapSurface {
  const found = MAP_SURFACES.find((surface) => surface === text)
  if (found !== undefined) return found
  throw new CpError('invalid_input', `${JSON.stringify(text)} is no surface; they are ${MAP_SURFACES.join(', ')}`)
}

function keyOf(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new CpError('invalid_input', 'the key of an entity is not written as in an address')
  }
}
