// Hand-over: commands that are about to be issued are claimed, in the transaction that issues them, for workers that wait in
// this process. That saves the look for candidates and the commit of a claim. Where anything is limited, or nobody waits,
// the commands wait for claims as ever.
import { LEASE_SECONDS } from '../../domain/commands/commandRules.js'
import type { EventRecord } from '../../domain/events/eventRecord.js'
import { toCpError } from '../../errors.js'
import { requeueCommand } from '../../stores/commands/commandQueue.js'
import type { ClaimQueue, Offered, QueueOffer, Taker } from './claimQueue.js'
import type { CommandLimits } from './commandLimits.js'
import { type HandOutDeps, type HeldCommand, heldCommand, readIssued, type Wanted } from './handOut.js'

export type { Taker } from './claimQueue.js'

/** Its row and its claim are committed. */
export interface Handed extends Wanted {
  leaseUntil: string
  /** As the log holds it; undefined: it has to be read, because secrets or numbers stand there in another form. */
  issued: EventRecord | undefined
}

export interface Offer {
  /** By command; undefined: it waits for a claim. */
  takers: readonly (Taker | undefined)[]
  /** By command; undefined: it was not issued. To be called once, whatever happens. */
  settle(handed: readonly (Handed | undefined)[]): void
}

export interface HandOver {
  offer(commands: readonly Offered[]): Promise<Offer>
}

export interface HandOverDeps extends HandOutDeps {
  queue: Pick<ClaimQueue, 'offer' | 'waiting'>
  limits: Pick<CommandLimits, 'unlimited'>
}

const FIRST_CLAIM = { attempt: 1, leaseToken: 1 }

export function createHandOver(deps: HandOverDeps): HandOver {
  async function settle(places: QueueOffer, handed: readonly (Handed | undefined)[]): Promise<void> {
    let held: (HeldCommand | undefined)[] = []
    try {
      const unread = handed.filter((one) => one !== undefined && one.issued === undefined) as Handed[]
      const read = unread.length === 0 ? new Map<string, EventRecord>() : await readIssued(deps, unread)
      held = handed.map((one) => {
        const issued = one?.issued ?? read.get(one?.eventId ?? '')
        if (one === undefined || issued === undefined) return undefined
        const { leaseUntil, issued: _, ...wanted } = one
        const leaseSeconds = wanted.leaseSeconds ?? LEASE_SECONDS
        return heldCommand(deps, wanted, issued, { ...FIRST_CLAIM, leaseSeconds, leaseUntil })
      })
    } catch (error) {
      deps.onError(toCpError(error))
    }
    places.settle(held)
    for (const [index, one] of handed.entries()) {
      if (held[index] === undefined && one !== undefined) await giveBack(one)
    }
  }

  /** It cannot be read here: others may. */
  async function giveBack({ executionId, eventId, workerId }: Handed): Promise<void> {
    const holder = { workerId, leaseToken: FIRST_CLAIM.leaseToken }
    try {
      await requeueCommand(deps.databases.of(executionId), { executionId, commandId: eventId }, holder)
    } catch (error) {
      deps.onError(toCpError(error))
    }
  }

  return {
    offer: async (commands) => {
      const places = deps.queue.waiting() === 0 ? undefined : await placesFor(deps, commands)
      if (places === undefined) return { takers: [], settle: () => undefined }
      return { takers: places.takers, settle: (handed) => void settle(places, handed) }
    },
  }
}

async function placesFor({ queue, limits }: HandOverDeps, commands: readonly Offered[]): Promise<QueueOffer> {
  // Whoever cannot read the limits hands out nothing; those who claim report why.
  const open = await limits.unlimited([...new Set(commands.map(({ pool }) => pool))]).catch((): string[] => [])
  return queue.offer(commands.map((command) => (open.includes(command.pool) ? command : undefined)))
}
