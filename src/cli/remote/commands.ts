// Commands of playbooks as a daemon answers them, in the rows that the commands show.
import type { JsonObject } from '../../domain/json/value.js'
import { CpError } from '../../errors.js'
import type { Commands, ShownCommand } from '../../services/commands/commands.js'
import { given, type RemoteClient } from '../remote.js'

type Untold = 'catalog_id' | 'lease_token' | 'notify_count' | 'path'

/** What a daemon tells of a command; its table has more. */
export type CommandShown = Omit<ShownCommand, Untold> & Partial<ShownCommand>

export async function commandsRemotely(
  remote: RemoteClient,
  filter: Parameters<Commands['list']>[0],
): Promise<CommandShown[]> {
  const { executionId, status, pool, after, limit } = filter
  const query = { ...given({ execution_id: executionId, status, pool }), after, limit }
  const { items = [] } = await remote.call('getCommands', { query: query as never })
  return items.map((item) => rowOf(item as JsonObject))
}

export async function commandRemotely(remote: RemoteClient, eventId: string): Promise<CommandShown> {
  const before = String(BigInt(eventId) - 1n)
  const { items = [] } = await remote.call('getCommands', { query: { after: before, limit: 1 } })
  const [row] = items.map((item) => rowOf(item as JsonObject))
  if (row?.command_id === eventId) return row
  throw new CpError('not_found', `there is no command ${eventId}; see "noetl-cp command list"`)
}

export async function requeueRemotely(remote: RemoteClient, eventId: string): Promise<CommandShown> {
  const answer = await remote.call('postCommandsByEventIdRequeue', { params: { event_id: eventId } })
  return rowOf(answer as JsonObject)
}

function rowOf(item: JsonObject): CommandShown {
  const { event_id: eventId, execution_id: executionId, command_id: key, step, action, ...rest } = item
  return {
    ...rest,
    command_id: String(eventId),
    execution_id: String(executionId),
    command_key: key,
    step_name: step,
    tool_kind: action,
  } as unknown as CommandShown
}
