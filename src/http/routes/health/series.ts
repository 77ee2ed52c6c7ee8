// GET /api/overview/series: numbers of this daemon over time, for charts.
import { parseWireTime, type WireTime, wireTimeToMicros } from '../../../domain/events/wireTime.js'
import { severalOf } from '../../../domain/executions/listFilter.js'
import { floatValue, type JsonValue } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import type { Clock } from '../../../runtime/clock.js'
import { SERIES_NAMES, type Series, type SeriesName, STEPS } from '../../../services/console/series.js'
import type { RouteSpec } from '../../route.js'
import { answerOf, COUNT, TEXT } from '../../schema.js'

export interface SeriesRouteDeps {
  series: Pick<Series, 'read'>
  clock: Clock
}

const HOUR_MS = 3_600_000

export function seriesRoutes({ series, clock }: SeriesRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/overview/series',
      summary: 'Numbers of this daemon over time: an hour in steps of 5 s, a day in steps of 60 s',
      access: 'public',
      effect: 'read',
      query: {
        names: {
          type: 'string',
          maxLength: 1_000,
          description: `with commas; all by default: ${SERIES_NAMES.join(', ')}`,
        },
        since: { type: 'string', format: 'date-time', description: 'default an hour ago' },
        step: { type: 'integer', description: '5 or 60; by default what reaches back to since' },
      },
      responses: {
        200: answerOf({
          scope: TEXT,
          step: COUNT,
          at: { type: 'array', items: { type: 'integer' }, description: 'milliseconds since 1970' },
          columns: { type: 'object', description: 'name → numbers, null where there was nothing to measure' },
        }),
        400: 'malformed',
      },
      handler: async ({ query }) => {
        const since = sinceOf(query['since'], clock.now())
        const step = stepOf(query['step'], clock.now() - since)
        const { at, columns } = series.read(namesOf(query['names']), since, step)
        return {
          body: {
            scope: 'this daemon, since its start',
            step,
            at: at.map(Math.round),
            columns: Object.fromEntries(Object.entries(columns).map(([name, list]) => [name, list.map(shown)])),
          },
        }
      },
    },
  ]
}

function sinceOf(text: string | undefined, nowMs: number): number {
  const time: WireTime | undefined = parseWireTime(text, 'since')
  return time === undefined ? nowMs - HOUR_MS : Number(wireTimeToMicros(time) / 1000n)
}

function stepOf(text: string | undefined, spanMs: number): (typeof STEPS)[number] {
  // A moment more: whoever asks for the last hour asks for it a little later.
  if (text === undefined) return spanMs <= HOUR_MS + 60_000 ? STEPS[0] : STEPS[1]
  const step = STEPS.find((one) => String(one) === text)
  if (step === undefined) throw wrong('step', `step must be ${STEPS.join(' or ')}`)
  return step
}

function namesOf(text: string | undefined): readonly SeriesName[] {
  const names = severalOf(text) ?? SERIES_NAMES
  return names.map((name) => {
    const found = SERIES_NAMES.find((one) => one === name)
    if (found === undefined) throw wrong('names', `there is no series ${JSON.stringify(name)}; see /openapi.json`)
    return found
  })
}

function wrong(field: string, message: string): CpError {
  return new CpError('invalid_input', message, { details: { field } })
}

function shown(value: number): JsonValue {
  return Number.isNaN(value) ? null : floatValue(Math.round(value * 1e6) / 1e6)
}
