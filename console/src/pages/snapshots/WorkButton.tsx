// One piece of work on the snapshots of an execution. It needs no dialog: a snapshot is a cache, and neither the log nor a state
// can be different afterwards.
import { useSignal } from '@preact/signals'
import { ApiError } from '../../lib/api'
import { whyNotOperator } from '../../lib/session'
import { ActButton } from '../../parts/ActButton'
import type { Outcome, Work } from './snapshot'

interface WorkButtonProps {
  work: Work
  executionId: string
  /** Why this execution needs it not. */
  needless?: string | undefined
  onOutcome: (outcome: Outcome) => void
}

export function WorkButton({ work, executionId, needless, onOutcome }: WorkButtonProps) {
  const isBusy = useSignal(false)
  const why = whyNotOperator.value ?? needless
  const run = async (): Promise<void> => {
    isBusy.value = true
    try {
      onOutcome(await work.run(executionId))
    } catch (error) {
      onOutcome({ isGood: false, text: error instanceof ApiError ? error.message : String(error) })
    } finally {
      isBusy.value = false
    }
  }
  return (
    <ActButton why={why} meaning={work.meaning} isBusy={isBusy.value} onClick={run}>
      {isBusy.value ? 'Working…' : work.name}
    </ActButton>
  )
}
