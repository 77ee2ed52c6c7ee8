// One try at something that the server may refuse: that it is under way, and why it was refused.
import { useSignal } from '@preact/signals'
import { ApiError } from './api'

export interface Attempt {
  isBusy: boolean
  refusal: string | undefined
  /** Never throws. */
  run(work: () => Promise<unknown>): Promise<void>
}

export function useAttempt(): Attempt {
  const isBusy = useSignal(false)
  const refusal = useSignal<string | undefined>(undefined)
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    isBusy.value = true
    refusal.value = undefined
    try {
      await work()
    } catch (error) {
      refusal.value = error instanceof ApiError ? error.message : String(error)
    } finally {
      isBusy.value = false
    }
  }
  return { isBusy: isBusy.value, refusal: refusal.value, run }
}
