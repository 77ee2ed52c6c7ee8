// Claims that workers send as events (command.claimed) are held to pauses and limits like those that they ask for by a route:
// what is not to be handed out is left out of the append, with all that the same call says about that command.
import type { Databases } from '../../db/databases.js'
import { canonicalEventType } from '../../domain/events/eventType.js'
import { claimableCommands } from '../../stores/commands/commandLimits.js'
import type { AppendItem, AppendOutcome } from '../events/appendInTx.js'
import { commandNamed } from '../events/commandBook.js'
import { type CommandLimits, hasRoom, saturated } from './commandLimits.js'

/** Appends what may be appended; all items are of one execution. */
export type ClaimEvents = (
  items: readonly AppendItem[],
  append: (items: readonly AppendItem[]) => Promise<AppendOutcome[]>,
) => Promise<AppendOutcome[]>

export function createClaimEvents(deps: { databases: Databases; limits: CommandLimits }): ClaimEvents {
  return async (items, append) => {
    const claims = new Map(items.filter(isClaim).map((item) => [nameIn(item), item.event.workerId]))
    if (claims.size === 0 || !(await deps.limits.areSet())) return append(items)
    const { executionId } = items[0]!.event
    const rows = await claimableCommands(deps.databases.of(executionId), executionId, [...claims.keys()])
    return deps.limits.within([...new Set(rows.map(({ pool }) => pool))], async (room) => {
      const full = new Set(
        rows.filter((row) => !hasRoom(room, row, claims.get(row.command_key))).map((row) => row.command_key),
      )
      const open = items.filter((item) => !full.has(nameIn(item)))
      const outcomes = open.length === 0 ? [] : await append(open)
      const byItem = new Map(open.map((item, index) => [item, outcomes[index]!]))
      return items.map((item) => byItem.get(item) ?? leftOut(item))
    })
  }
}

function isClaim({ event }: AppendItem): boolean {
  return canonicalEventType(event.eventType) === 'command.claimed' && commandNamed(event) !== undefined
}

/** Empty: it is about no command of ours. */
function nameIn({ event }: AppendItem): string {
  return commandNamed(event)?.commandId ?? ''
}

function leftOut(item: AppendItem): AppendOutcome {
  const { eventId } = item.event
  return isClaim(item) ? saturated(eventId) : { kind: 'ignored', eventId, reason: 'not_holder' }
}
