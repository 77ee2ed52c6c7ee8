// For a drain of at most so many rows: queues that hand out no more rows than the allowance has left. A row takes one
// when it is sent for the first time and gives it back when it was refused: another may go in its place. Rows beyond it
// are parked; they count as on their way and never leave.
import type { OutboxRow } from '../../../stores/outbox/outboxStore.js'
import type { ExecutionQueues } from './executionQueues.js'

/** Shared by the relays of all shards. */
export interface Allowance {
  left: number
}

export function limitQueues(queues: ExecutionQueues, allowance: Allowance): ExecutionQueues {
  // A row that is sent again has paid already: it may be in the stream.
  const paid = new Set<string>()
  const parked: OutboxRow[] = []

  function giveBack(row: OutboxRow): void {
    if (!paid.delete(row.outbox_id)) return
    allowance.left += 1
    for (const waiting of parked.splice(0)) queues.again(waiting)
  }

  return {
    ...queues,
    next: () => {
      for (;;) {
        const row = queues.next()
        if (row === undefined || paid.has(row.outbox_id)) return row
        if (allowance.left > 0) {
          allowance.left -= 1
          paid.add(row.outbox_id)
          return row
        }
        parked.push(row)
      }
    },
    acked: (row) => {
      paid.delete(row.outbox_id)
      queues.acked(row)
    },
    hold: (row, until, now) => {
      queues.hold(row, until, now)
      giveBack(row)
    },
    givenUp: (row) => {
      queues.givenUp(row)
      giveBack(row)
    },
  }
}
