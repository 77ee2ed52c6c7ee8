// The end of a dialog that acts on many: why, how many of them (written by hand where they are a lot), and the act.
import { useSignal } from '@preact/signals'
import { useAttempt } from '../lib/useAttempt'
import { Confirm } from './Confirm'
import { Reason } from './Reason'
import type { Order } from './SameAct'
import { isTyped, TypedNumber } from './TypedNumber'

interface AgreementProps {
  act: string
  count: number
  hint: string
  /** There is something that can be done. */
  isReady?: boolean
  /** What is sent, to be copied; undefined where no single request says it. */
  order: (reason: string) => Order | undefined
  onAct: (reason: string) => Promise<void>
  onClose: () => void
}

export function Agreement({ act, count, hint, isReady = true, order, onAct, onClose }: AgreementProps) {
  const reason = useSignal('')
  const typed = useSignal('')
  const attempt = useAttempt()
  const why = reason.value.trim()
  return (
    <>
      <Reason reason={reason} hint={hint} />
      <TypedNumber count={count} typed={typed} />
      <Confirm
        act={act}
        attempt={attempt}
        isReady={isReady && why !== '' && isTyped(count, typed.value)}
        order={order(why)}
        onAct={() => attempt.run(() => onAct(why))}
        onClose={onClose}
      />
    </>
  )
}
