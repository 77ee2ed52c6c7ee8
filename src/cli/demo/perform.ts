// Plays the scripts against a running daemon, side by side, through its public API alone.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import type { Clock } from '../../runtime/clock.js'
import type { ApiClient } from '../apiClient.js'
import { DEMO_ENTRIES, DEMO_PREFIX, SUBSCRIPTION_PATH } from './entries.js'
import { SCRIPTS, type Script } from './scripts.js'

export interface Performed {
  executions: { id: string; script: Script }[]
  subscriptionId: string
}

export interface Ended {
  executions: string[]
  subscriptions: string[]
}

const PAGE = 100

export async function performDemo(api: ApiClient, clock: Clock): Promise<Performed> {
  for (const content of DEMO_ENTRIES) await api.post('/api/catalog/register', { content })
  const executions = await Promise.all(SCRIPTS.map((script) => play(api, clock, script)))
  // Only registered: no stream is touched before somebody activates it.
  const subscription = await api.post('/api/subscriptions', { path: SUBSCRIPTION_PATH, actor: 'demo' })
  return { executions, subscriptionId: String(subscription['subscription_id']) }
}

async function play(api: ApiClient, clock: Clock, script: Script): Promise<{ id: string; script: Script }> {
  // The script is the one who decides here.
  const started = await api.post('/api/execute', { path: script.path, payload: script.payload, driven: false })
  const id = String(started['execution_id'])
  for (const moment of script.moments) {
    if ('waitMs' in moment) await clock.sleep(moment.waitMs)
    else await api.post('/api/events', { execution_id: id, ...moment.event })
  }
  if (script.ends === 'CANCELLED') await api.post(`/api/executions/${id}/cancel`, { reason: 'there is no such day' })
  return { id, script }
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
