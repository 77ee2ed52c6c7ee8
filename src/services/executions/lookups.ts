// What an id stands for, asked before something is done with it.
import type { Databases } from '../../db/databases.js'
import { isSubscriptionLog, subscriptionInstead } from '../../domain/executions/kinds.js'
import { CpError } from '../../errors.js'
import { getExecution } from '../../stores/executions/executionStore.js'

/** Passes for what nobody knows: it may have been written by somebody else a moment ago. */
export async function assertNoSubscription({ databases }: { databases: Databases }, id: string): Promise<void> {
  const row = await getExecution(databases.of(id), id)
  if (isSubscriptionLog(row?.start_event_type)) throw subscriptionInstead(id)
}

/** A parent may be an execution or a subscription, on any shard: where it was written when there were fewer. */
export async function assertParentKnown({ databases }: { databases: Databases }, parentId: string): Promise<void> {
  if ((await getExecution(databases.of(parentId), parentId)) !== undefined) return
  const { answers, failures } = await databases.fanOut((db) => getExecution(db, parentId))
  if (answers.some(({ value }) => value !== undefined)) return
  if (failures[0] !== undefined) throw failures[0].error
  throw new CpError(
    'refused',
    `there is no execution ${parentId} that could be the parent; leave the parent out, or see "noetl-cp execution list"`,
    { details: { field: '/parent_execution_id' } },
  )
}
