// Looks for what has changed, for topics that somebody listens to and for no others. Appends of this daemon are heard at once;
// what other daemons and commands do is found by looking every second, and sooner after a hint of theirs.
import type { Databases } from '../../db/databases.js'
import type { JsonObject } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { type CpError, toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { createPollLoop, type PollLoop } from '../../runtime/loop.js'
import type { SharedAnswer } from '../../runtime/sharedAnswer.js'
import { listActions } from '../../stores/access/operatorActionStore.js'
import { subscriptionPulse } from '../../stores/subscriptions/subscriptionStore.js'
import type { InstanceOverview } from '../health/instanceOverview.js'
import { createExecutionNews, type ExecutionNews } from './executionNews.js'
import type { NewsBoard } from './newsBoard.js'

export interface NewsSourcesDeps {
  databases: Databases
  board: Pick<NewsBoard, 'post' | 'topics'>
  instance(): Promise<SharedAnswer<InstanceOverview>>
  clock: Clock
  random: () => number
  onError(error: CpError): void
}

export interface NewsSources extends PollLoop {
  /** These executions were written to. */
  appended: ExecutionNews['appended']
  /** Somebody else has written something: a look comes soon. A hint may be lost, so nothing depends on it. */
  hinted(): void
}

const LOOK_MS = 1_000
// News of many appends is gathered for a moment: one look for all of them.
const GATHER_MS = 100
/** However many hints come, there are no more looks than this. */
const HINTED_MS = 250
const ACTS_LOOKED_AT = 20
const EVERY_ACT = { actor: null, action: null, target: null, since: null, beforeId: null }

/** What a look found: it rings when `mark` is another than before. */
interface Look {
  topic: string
  name: string
  look(): Promise<{ mark: string; data: JsonObject }>
}

export function createNewsSources(deps: NewsSourcesDeps): NewsSources {
  const { board, clock } = deps
  const looks = looksOf(deps)
  const marks = new Map<string, string>()
  const executions = createExecutionNews({ ...deps, nudge: () => loop.nudge() })
  let lookAt = 0
  let lookedAt = Number.NEGATIVE_INFINITY

  async function ring({ topic, name, look }: Look): Promise<void> {
    const { mark, data } = await look()
    if (marks.get(topic) === mark) return
    marks.set(topic, mark)
    board.post(topic, name, data)
  }

  const loop = createPollLoop({
    name: 'news sources',
    clock,
    random: deps.random,
    idleMs: LOOK_MS,
    errorMs: LOOK_MS,
    errorMsMax: 10_000,
    onError: deps.onError,
    runOnce: async (signal) => {
      const topics = board.topics()
      if (topics.size > 0) await clock.sleep(GATHER_MS, signal)
      const isTime = clock.monotonic() >= lookAt
      if (isTime) {
        lookedAt = clock.monotonic()
        lookAt = lookedAt + LOOK_MS
      }
      const due = isTime ? looks.filter(({ topic }) => topics.has(topic)) : []
      // One that has no answer keeps none of the others from theirs.
      const done = await Promise.allSettled([...due.map(ring), executions.look(topics, isTime)])
      for (const one of done) if (one.status === 'rejected') deps.onError(toCpError(one.reason))
      return 'idle'
    },
  })
  return {
    ...loop,
    appended: executions.appended,
    hinted: () => {
      const now = clock.monotonic()
      const soon = Math.max(now, lookedAt + HINTED_MS)
      // One that comes anyhow by then is soon enough.
      if ((soon >= lookAt && soon > now) || board.topics().size === 0) return
      lookAt = Math.min(lookAt, soon)
      void clock.sleep(soon - now).then(() => loop.nudge())
    },
  }
}

function looksOf({ databases, instance }: NewsSourcesDeps): Look[] {
  const rows = async (): Promise<JsonObject> => {
    const { value } = await instance()
    return {
      ready: value.ready,
      failed_checks: value.checks.filter(({ ok }) => !ok).map(({ name }) => name),
      backlog: sum(value, ({ backlog }) => (backlog === undefined ? 0 : total(backlog))),
      dead: sum(value, ({ dead }) => dead ?? 0),
      published_last_minute: sum(value, ({ publishedLastMinute }) => publishedLastMinute ?? 0),
      failed_shards: value.shards.flatMap(({ shard, error }) => (error === undefined ? [] : [shard])),
    }
  }
  const marked = async (data: Promise<JsonObject>) => ({ mark: writeJson(await data), data: await data })
  return [
    { topic: 'overview', name: 'overview', look: () => marked(rows()) },
    { topic: 'outbox', name: 'outbox', look: () => marked(rows()) },
    {
      topic: 'subscriptions',
      name: 'subscription',
      look: async () => ({ mark: await subscriptionPulse(databases.cluster.db), data: {} }),
    },
    {
      topic: 'activity',
      name: 'activity',
      look: async () => {
        const acts = await listActions(databases.cluster.db, { ...EVERY_ACT, limit: ACTS_LOOKED_AT })
        return {
          mark: acts.map(({ id, outcome }) => `${id} ${outcome}`).join(),
          data: { id: acts[0]?.id ?? null },
        }
      },
    },
  ]
}

function sum({ shards }: InstanceOverview, of: (shard: InstanceOverview['shards'][number]) => number): number {
  return shards.reduce((before, shard) => before + of(shard), 0)
}

function total(counts: object): number {
  return Object.values(counts).reduce((before: number, count) => before + Number(count), 0)
}
