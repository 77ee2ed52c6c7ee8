// The end of a dialog that acts: why it was refused, the way out (which has the focus), and the act.
import { useEffect, useRef } from 'preact/hooks'
import { type Same, SameAct } from './SameAct'

interface ConfirmProps {
  act: string
  refusal: string | undefined
  isBusy: boolean
  isReady: boolean
  same?: Same | undefined
  onAct: () => void
  onClose: () => void
}

export function Confirm({ act, refusal, isBusy, isReady, same, onAct, onClose }: ConfirmProps) {
  const keep = useRef<HTMLButtonElement>(null)
  // A dialog may have been open for a while before there is something to confirm.
  useEffect(() => keep.current?.focus(), [])
  return (
    <>
      {refusal !== undefined && (
        <p class="notice stale" role="alert">
          {refusal}
        </p>
      )}
      {same !== undefined && <SameAct {...same} />}
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
