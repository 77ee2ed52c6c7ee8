// The end of a dialog that acts: why it was refused, the way out (which has the focus), and the act.
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Attempt } from '../lib/useAttempt'
import { type Order, SameAct } from './SameAct'

interface ConfirmProps {
  act: string
  attempt: Attempt
  isReady: boolean
  /** What is sent, to be copied. */
  order?: Order | undefined
  onAct: () => void
  onClose: () => void
}

export function Confirm({ act, attempt: { refusal, isBusy }, isReady, order, onAct, onClose }: ConfirmProps) {
  const keep = useRef<HTMLButtonElement>(null)
  // A dialog may have been open for a while before there is something to confirm. With the drawing: who writes the reason at once
  // must not lose the focus to it.
  useLayoutEffect(() => keep.current?.focus(), [])
  return (
    <>
      {refusal !== undefined && (
        <p class="notice stale" role="alert">
          {refusal}
        </p>
      )}
      {order !== undefined && <SameAct {...order} />}
      <div class="buttons">
        <button ref={keep} type="button" autofocus onClick={onClose}>
          Keep as it is
        </button>
        <button type="button" class="primary" disabled={isBusy || !isReady} onClick={onAct}>
          {isBusy ? 'Working…' : act}
        </button>
      </div>
    </>
  )
}
