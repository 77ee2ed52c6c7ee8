// Names that the instance knows, for a shell: asked of the daemon over HTTP, quickly or not at all.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { type ApiClient, createApiClient } from '../apiClient.js'
import type { CommandContext, Completes } from '../command.js'
import type { Candidate } from './candidates.js'

const DEADLINE_MS = 2_000
const LIMIT = 100

type Known = Exclude<Completes, readonly string[] | 'file'>

export async function knownNames(context: CommandContext, of: Known): Promise<Candidate[]> {
  try {
    const { httpUrl, token } = await context.instance()
    return await readers[of](createApiClient(httpUrl, token, DEADLINE_MS))
  } catch {
    // No daemon, no answer in time, no access: there is nothing to offer, and a line that is being typed is no place to say so.
    return []
  }
}

const readers: Record<Known, (api: ApiClient) => Promise<Candidate[]>> = {
  execution: async (api) =>
    items(await api.get(`/api/executions?limit=${LIMIT}&ids=string`)).map((row) =>
      candidate(row, 'execution_id', ['status', 'path']),
    ),
  subscription: async (api) =>
    items(await api.get(`/api/subscriptions?limit=${LIMIT}&ids=string`), 'subscriptions').map((row) =>
      candidate(row, 'subscription_id', ['state', 'path']),
    ),
  command: async (api) =>
    items(await api.get(`/api/commands?limit=${LIMIT}&ids=string`), 'items').map((row) =>
      candidate(row, 'event_id', ['status', 'command_id']),
    ),
  credential: async (api) =>
    items(await api.get('/api/credentials'), 'items').map((row) => candidate(row, 'name', ['type'])),
  path: async (api) => {
    const rows = items(await api.post('/api/catalog/list', { include_content: false }), 'entries')
    return once(rows.map((row) => candidate(row, 'path', ['kind'])))
  },
  pool: async (api) => {
    const rows = items(await api.get('/api/worker/pools'), 'items')
    return once(
      rows.flatMap(({ labels }) => {
        const pools = isJsonObject(labels) && Array.isArray(labels['pools']) ? labels['pools'] : []
        return pools.map((pool) => ({ word: String(pool), help: 'worker pool' }))
      }),
    )
  },
}

function items(answer: JsonValue, name?: string): JsonObject[] {
  const list = name !== undefined && isJsonObject(answer) ? answer[name] : answer
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}

function candidate(row: JsonObject, word: string, help: readonly string[]): Candidate {
  return { word: String(row[word]), help: help.map((name) => String(row[name] ?? '')).join(' ') }
}

function once(candidates: readonly Candidate[]): Candidate[] {
  return [...new Map(candidates.map((one) => [one.word, one])).values()]
}
