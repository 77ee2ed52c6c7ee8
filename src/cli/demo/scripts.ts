// What the workers of the demo report, as data: one list of moments per execution. The waits are real, so that every
// time in the log is the time at which something happened; nothing is back-dated.
import type { JsonObject } from '../../domain/json/value.js'

/** An event of POST /api/events without its execution, or a pause. */
export type Moment = { waitMs: number } | { event: JsonObject }

export interface Script {
  path: string
  payload: JsonObject
  /** In the table of what was made. */
  about: string
  /** How the execution is left. */
  ends: 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'RUNNING'
  moments: readonly Moment[]
}

interface Work {
  step: string
  worker: string
  ms: number
  attempt?: number
  /** Of a loop: which part this is. */
  part?: { loop: string; index: number; total: number }
}

const wait = (waitMs: number): Moment => ({ waitMs })
const event = (event_type: string, step: string, rest: JsonObject = {}): Moment => ({
  event: { event_type, step, ...rest },
})

function metaOf({ step, attempt = 1, part }: Work): JsonObject {
  const meta: JsonObject = { command_id: part === undefined ? `${step}:${attempt}` : `${step}:${part.index}`, attempt }
  if (part === undefined) return meta
  return { ...meta, loop_id: part.loop, iteration_index: part.index, iteration_total: part.total, total: part.total }
}

function issued(work: Work): Moment {
  return event('command.issued', work.step, { meta: { ...metaOf(work), tool_kind: 'http' } })
}

function running(work: Work): Moment[] {
  const told = { meta: metaOf(work), worker_id: work.worker }
  return [event('command.claimed', work.step, told), wait(15), event('command.started', work.step, told), wait(work.ms)]
}

function succeeds(work: Work, result: JsonObject): Moment[] {
  const told = { meta: metaOf(work), worker_id: work.worker }
  return [
    issued(work),
    wait(20),
    ...running(work),
    event('call.done', work.step, { ...told, payload: { data: result } }),
    event('command.completed', work.step, told),
  ]
}

function fails(work: Work, error: string): Moment[] {
  const told = { meta: metaOf(work), worker_id: work.worker, error }
  return [
    issued(work),
    wait(20),
    ...running(work),
    event('call.error', work.step, told),
    event('command.failed', work.step, told),
  ]
}

function step(work: Work, result: JsonObject): Moment[] {
  return [event('step.enter', work.step), ...succeeds(work, result), event('step.exit', work.step)]
}

const completed: Moment = event('playbook.completed', 'playbook')
const failed = (error: string): Moment => event('playbook.failed', 'playbook', { error })

function report(day: string, rows: number, ms: number): Script {
  return {
    path: 'demo/daily-report',
    payload: { day },
    about: 'three steps, all well',
    ends: 'COMPLETED',
    moments: [
      ...step({ step: 'fetch', worker: 'worker-a', ms }, { rows }),
      ...step({ step: 'transform', worker: 'worker-b', ms: ms / 2 }, { rows: rows - 3, dropped: 3 }),
      ...step({ step: 'store', worker: 'worker-a', ms: ms / 3 }, { stored: rows - 3 }),
      completed,
    ],
  }
}

const RETRY_ERROR = 'HTTP 503 from https://shop.example/orders'
const BROKEN_ERROR = 'row 17: "quantity" is not a number: "a dozen"'
const IMAGES = ['cover.png', 'map.png', 'team.jpg', 'chart.svg', 'logo.png', 'door.jpg']

const retried: Script = {
  path: 'demo/import-orders',
  payload: { source: 'shop' },
  about: 'the first attempt to download failed, the second did not',
  ends: 'COMPLETED',
  moments: [
    event('step.enter', 'download'),
    ...fails({ step: 'download', worker: 'worker-b', ms: 180 }, RETRY_ERROR),
    wait(150),
    ...succeeds({ step: 'download', worker: 'worker-a', ms: 260, attempt: 2 }, { bytes: 48_211 }),
    event('step.exit', 'download'),
    ...step({ step: 'validate', worker: 'worker-a', ms: 90 }, { rows: 212 }),
    ...step({ step: 'load', worker: 'worker-b', ms: 200 }, { loaded: 212 }),
    completed,
  ],
}

const broken: Script = {
  path: 'demo/import-orders',
  payload: { source: 'market' },
  about: 'failed: a row that cannot be read',
  ends: 'FAILED',
  moments: [
    ...step({ step: 'download', worker: 'worker-a', ms: 220 }, { bytes: 9_120 }),
    event('step.enter', 'validate'),
    ...fails({ step: 'validate', worker: 'worker-b', ms: 120 }, BROKEN_ERROR),
    failed(BROKEN_ERROR),
  ],
}

const loop: Script = {
  path: 'demo/thumbnails',
  payload: { images: IMAGES.length },
  about: `a loop over ${IMAGES.length} images`,
  ends: 'COMPLETED',
  moments: [
    ...step({ step: 'list', worker: 'worker-a', ms: 80 }, { images: IMAGES }),
    event('step.enter', 'resize', { payload: { iterations_expected: IMAGES.length } }),
    event('loop.started', 'resize', { meta: { loop_id: 'images', collection_size: IMAGES.length } }),
    ...IMAGES.flatMap((image, index) =>
      succeeds(
        {
          step: 'resize',
          worker: index % 2 === 0 ? 'worker-a' : 'worker-b',
          ms: 40 + 15 * index,
          part: { loop: 'images', index, total: IMAGES.length },
        },
        { image, width: 320 },
      ),
    ),
    event('loop.done', 'resize', { meta: { loop_id: 'images' } }),
    event('step.exit', 'resize'),
    completed,
  ],
}

const stuck: Script = {
  path: 'demo/payment-sync',
  payload: { account: 'main' },
  about: 'stuck: its worker took a command and never reported back',
  ends: 'RUNNING',
  moments: [
    ...step({ step: 'read-ledger', worker: 'worker-b', ms: 130 }, { open: 4 }),
    event('step.enter', 'charge'),
    issued({ step: 'charge', worker: 'worker-c', ms: 0 }),
    ...running({ step: 'charge', worker: 'worker-c', ms: 0 }),
  ],
}

const cancelled: Script = {
  path: 'demo/daily-report',
  payload: { day: '2026-02-30' },
  about: 'cancelled by hand after its first step',
  ends: 'CANCELLED',
  moments: step({ step: 'fetch', worker: 'worker-a', ms: 110 }, { rows: 0 }),
}

export const SCRIPTS: readonly Script[] = [
  report('2026-11-14', 1_204, 300),
  report('2026-11-15', 1_377, 420),
  retried,
  broken,
  loop,
  stuck,
  cancelled,
]
