// Runs the playbooks of the demo in a running daemon, side by side, through its public API alone.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import type { Clock } from '../../runtime/clock.js'
import type { ApiClient } from '../apiClient.js'
import { DEMO_ENTRIES, DEMO_PREFIX, SUBSCRIPTION_PATH } from './entries.js'
import { PLAYS, type Play } from './plays.js'

export interface Performed {
  executions: { id: string; play: Play; status: string }[]
  subscriptionId: string
}

export interface Ended {
  executions: string[]
  subscriptions: string[]
}

const PAGE = 100
const LOOK_MS = 100
/** Without a worker of its own an instance leaves open what needs one; that is told as it is. */
const END_MS = 20_000

export async function performDemo(api: ApiClient, clock: Clock, onEnd: () => void): Promise<Performed> {
  for (const content of DEMO_ENTRIES) await api.post('/api/catalog/register', { content })
  const executions = await Promise.all(
    PLAYS.map(async (play) => {
      const performed = await perform(api, clock, play)
      onEnd()
      return performed
    }),
  )
  // Only registered: no stream is touched before somebody activates it.
  const subscription = await api.post('/api/subscriptions', { path: SUBSCRIPTION_PATH, actor: 'demo' })
  return { executions, subscriptionId: String(subscription['subscription_id']) }
}

async function perform(api: ApiClient, clock: Clock, play: Play): Promise<Performed['executions'][number]> {
  const { path, payload, ends, pool } = play
  const start = { path, payload, ...(pool === undefined ? {} : { execution_pool: pool }) }
  const id = String((await api.post('/api/execute', start))['execution_id'])
  if (ends === 'CANCELLED') await api.post(`/api/executions/${id}/cancel`, { reason: 'the account is closed' })
  const deadline = clock.monotonic() + END_MS
  for (;;) {
    const status = await statusOf(api, id)
    if (status === ends || clock.monotonic() > deadline) return { id, play, status }
    await clock.sleep(LOOK_MS)
  }
}

async function statusOf(api: ApiClient, id: string): Promise<string> {
  const answer = await api.get(`/api/executions/${id}/status`)
  return String(isJsonObject(answer) ? answer['status'] : undefined).toUpperCase()
}

/** An execution that no demo has made; undefined when there is none. */
export async function findForeign(api: ApiClient): Promise<JsonObject | undefined> {
  const newest = rowsOf(await api.get(`/api/executions?limit=${PAGE}`))
  return newest.find((row) => !String(row['path'] ?? '').startsWith(DEMO_PREFIX))
}

/** Ends what a demo left open. The history stays: a log that forgets would be none. */
export async function endDemo(api: ApiClient): Promise<Ended> {
  const ended: Ended = { executions: [], subscriptions: [] }
  for (;;) {
    const running = rowsOf(await api.get(`/api/executions?path=${DEMO_PREFIX}*&status=RUNNING&limit=${PAGE}`))
    for (const row of running) {
      const id = String(row['execution_id'])
      await api.post(`/api/executions/${id}/cancel`, { reason: 'noetl-cp demo --end' })
      ended.executions.push(id)
    }
    if (running.length < PAGE) break
  }
  const answer = await api.get(`/api/subscriptions?path=${DEMO_PREFIX}*`)
  for (const row of rowsOf(isJsonObject(answer) ? answer['subscriptions'] : undefined)) {
    if (row['state'] === 'DEACTIVATED') continue
    const id = String(row['subscription_id'])
    await api.post(`/api/subscriptions/${id}/deactivate`, { actor: 'demo', reason: 'noetl-cp demo --end' })
    ended.subscriptions.push(id)
  }
  return ended
}

function rowsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
