// Feeds the source stream of a pull subscription and pauses and resumes it. Between the answer to a pause and the
// request to resume nothing may be started.
import type { JetStreamClient } from 'nats'
import { SOURCE } from '../site.js'
import { type Load, type LoadContext, wronglyRefused } from './loadContext.js'

let serial = 0

export function feedSource(js: JetStreamClient): Load {
  return async (context) => {
    while (!context.isOver()) {
      await publishNext(context, js)
      await context.pause(10, 60)
    }
  }
}

async function publishNext(context: LoadContext, js: JetStreamClient): Promise<void> {
  const n = serial++
  for (;;) {
    try {
      await js.publish(`${SOURCE}.orders`, JSON.stringify({ n }), { msgID: `order-${n}`, timeout: 2_000 })
      context.ledger.sourced.add(n)
      return
    } catch {
      await context.pause(100, 300)
    }
  }
}

export function pauseAndResume(js: JetStreamClient, subscriptionId: string): Load {
  const change = async (context: LoadContext, action: 'pause' | 'resume'): Promise<boolean> => {
    const answer = await context.client.insist('POST', `/api/subscriptions/${subscriptionId}/${action}`, {
      reason: 'chaos',
      actor: 'lab',
    })
    if (answer.status === 200) return true
    wronglyRefused(context, `${action} of subscription ${subscriptionId}`, answer)
    return false
  }
  return async (context) => {
    while (!context.isOver()) {
      await context.pause(1_000, 3_000)
      if (!(await change(context, 'pause'))) continue
      const from = context.journal.seconds()
      const startedAtPause = await startedCount(context, subscriptionId)
      // Something to start, for whoever has not heard of the pause.
      for (let n = 0; n < 5; n++) await publishNext(context, js)
      await context.pause(300, 1_500)
      const startedAtResume = await startedCount(context, subscriptionId)
      context.ledger.pauses.push({
        subscriptionId,
        from,
        to: context.journal.seconds(),
        startedAtPause,
        startedAtResume,
      })
      await change(context, 'resume')
    }
  }
}

/** From the databases themselves, however long they take to come back. */
export async function startedCount(context: Databases, subscriptionId: string): Promise<number> {
  const rows = await onEveryShard<{ n: number }>(
    context,
    'select count(*)::int as n from noetl.execution where parent_execution_id = $1::bigint',
    subscriptionId,
  )
  return rows.reduce((sum, { n }) => sum + n, 0)
}

/** Numbers of the messages that were started. */
export async function startedNumbers(context: Databases, subscriptionId: string): Promise<Set<number>> {
  const rows = await onEveryShard<{ n: number | null }>(
    context,
    `select (e.context -> 'workload' ->> 'n')::int as n
     from noetl.execution x join noetl.event e on e.execution_id = x.execution_id and e.event_id = x.start_event_id
     where x.parent_execution_id = $1::bigint`,
    subscriptionId,
  )
  return new Set(rows.flatMap(({ n }) => (n === null ? [] : [n])))
}

type Databases = Pick<LoadContext, 'site' | 'pause'>

async function onEveryShard<R>({ site, pause }: Databases, text: string, subscriptionId: string): Promise<R[]> {
  const found: R[] = []
  for (const shard of site.shards) {
    for (;;) {
      try {
        found.push(...(await shard.sql<R>(text, [subscriptionId])))
        break
      } catch {
        await pause(100, 200)
      }
    }
  }
  return found
}
