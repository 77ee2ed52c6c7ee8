// The right of a daemon to start executions for a subscription. It ends when the fence of a shard has a newer epoch, or
// when the log has a lifecycle event that the row does not have yet, whoever wrote it. The log is read before the
// transaction of a start, and again at its end if that took long: what is committed was allowed a moment before.
import type { Databases } from '../../db/databases.js'
import type { Tx } from '../../db/db.js'
import { CpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { hasMoved } from '../../stores/subscriptions/subscriptionLogStore.js'

export interface Right {
  subscriptionId: string
  /** As the row showed it. */
  epoch: string
  /** The newest lifecycle event that the row knew of. */
  lastEventId: string | null
}

export interface RightDeps {
  databases: Databases
  clock: Clock
}

export interface ConfirmedRight {
  /** Inside the transaction, as its last act. */
  confirm(tx: Tx, shard: number): Promise<void>
}

// A start is committed within a second of what ends the right: half of it for the transaction, the rest for the commit.
const LOOK_MS_MAX = 500
const LOOKS_MAX = 4

export async function confirmRight(deps: RightDeps, right: Right): Promise<ConfirmedRight> {
  const home = deps.databases.shardOf(right.subscriptionId)
  const { db } = deps.databases.shards[home]!
  let askedAt = 0

  async function ask(queryable: Pick<Tx, 'run'>): Promise<void> {
    const now = deps.clock.monotonic()
    if (await hasMoved(queryable, right.subscriptionId, right.lastEventId ?? '0')) throw lostRight(right)
    askedAt = now
  }

  await ask(db)
  return {
    confirm: async (tx, shard) => {
      for (let look = 0; deps.clock.monotonic() - askedAt > LOOK_MS_MAX; look++) {
        if (look === LOOKS_MAX) throw new CpError('unavailable', 'the log of the subscription answers too slowly')
        // In its own database by its own connection: waiting for a second one of the same pool could starve everybody.
        await ask(shard === home ? tx : db)
      }
    },
  }
}

export function lostRight({ subscriptionId }: Right): CpError {
  return new CpError('lost_claim', `subscription ${subscriptionId} was stopped, or is driven by another daemon`)
}
