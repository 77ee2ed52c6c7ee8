// A change of a subscription that has been made, while deliveries have not stopped everywhere yet (503 with the shards): that is a
// state, not a refusal. It is said at once and asked about again by itself, until they have stopped or somebody must look.
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { ApiError, get, send } from '../../lib/api'
import type { Order } from '../../parts/SameAct'

const TRIES = 30
const BETWEEN_MS = 2_000

export interface Stopping {
  text: string
  isOver: boolean
  /** Where it was given up. */
  again?: () => void
}

interface Unstopped {
  state: string
  unstopped_shards: number[]
}

export function useStopping(subscriptionId: string): {
  stopping: Signal<Stopping | undefined>
  change(order: Order): Promise<void>
} {
  const stopping = useSignal<Stopping | undefined>(undefined)
  const newest = useRef(0)
  useEffect(
    () => () => {
      newest.current++
    },
    [],
  )

  const repeat = async (order: Order, first: Unstopped): Promise<void> => {
    const own = ++newest.current
    let known = first
    for (let tried = 1; tried <= TRIES; tried++) {
      stopping.value = { text: `${sentence(known)} It is asked again by itself.`, isOver: false }
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS))
      if (newest.current !== own) return
      try {
        // Whoever has resumed it meanwhile must not find it paused again.
        const { state } = await get<{ state: string }>(`/api/subscriptions/${subscriptionId}`)
        if (newest.current !== own) return
        if (state !== known.state) {
          stopping.value = undefined
          return
        }
        await send('POST', order.path, order.body)
        if (newest.current !== own) return
        stopping.value = { text: 'Deliveries have stopped.', isOver: true }
        return
      } catch (error) {
        // It has been changed anew meanwhile: what is to be told of that is told there.
        if (newest.current !== own) return
        // Whatever it was: it is still not known to have stopped.
        known = unstoppedOf(error) ?? known
      }
    }
    stopping.value = {
      text: `${sentence(known)} What a daemon began there may still start executions: bring the shard back, and ask again.`,
      isOver: false,
      again: () => void repeat(order, known),
    }
  }

  const change = async ({ path, body }: Order): Promise<void> => {
    newest.current++
    stopping.value = undefined
    try {
      await send('POST', path, body)
    } catch (error) {
      const unstopped = unstoppedOf(error)
      if (unstopped === undefined) throw error
      void repeat({ path, ...(body === undefined ? {} : { body }) }, unstopped)
    }
  }
  return { stopping, change }
}

/** Undefined: it was refused, and nothing has changed. */
function unstoppedOf(error: unknown): Unstopped | undefined {
  if (!(error instanceof ApiError) || error.status !== 503) return undefined
  const { detail } = (error.body ?? {}) as { detail?: Partial<Unstopped> }
  return detail?.unstopped_shards === undefined ? undefined : (detail as Unstopped)
}

function sentence({ state, unstopped_shards: shards }: Unstopped): string {
  return `It is ${state.toLowerCase()}; deliveries not stopped on shard ${shards.join(', ')} yet.`
}
