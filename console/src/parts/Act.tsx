// A button that acts on the installation: it opens a dialog that says what follows, asks for a reason, and keeps everything
// as it is unless told otherwise. Without the right to act it says why.
import { useSignal } from '@preact/signals'
import { ApiError } from '../lib/api'
import { session, whyNotOperator } from '../lib/session'
import { Dialog } from './Dialog'

export interface ActProps {
  name: string
  /** One sentence: what will be different. */
  consequence: string
  needsReason?: boolean
  /** Anyone who may write may do it. */
  isPublic?: boolean
  act: (reason: string) => Promise<unknown>
  onDone: () => void
}

export function Act(props: ActProps) {
  const isOpen = useSignal(false)
  const why = whyNot(props.isPublic === true)
  return (
    <>
      <button
        type="button"
        disabled={why !== undefined}
        title={why ?? props.consequence}
        onClick={() => {
          isOpen.value = true
        }}
      >
        {props.name}…
      </button>
      {isOpen.value && (
        <ActDialog
          {...props}
          onClose={() => {
            isOpen.value = false
          }}
        />
      )}
    </>
  )
}

function whyNot(isPublic: boolean): string | undefined {
  if (!isPublic || session.value?.read_only === true) return whyNotOperator.value
  return session.value?.role === 'none' ? 'Log in with noetl-cp console' : undefined
}

function ActDialog({ name, consequence, needsReason, act, onDone, onClose }: ActProps & { onClose: () => void }) {
  const reason = useSignal('')
  const isBusy = useSignal(false)
  const refusal = useSignal<string | undefined>(undefined)
  const run = async (): Promise<void> => {
    isBusy.value = true
    refusal.value = undefined
    try {
      await act(reason.value.trim())
      onClose()
      onDone()
    } catch (error) {
      refusal.value = error instanceof ApiError ? error.message : String(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <Dialog title={name} onClose={onClose}>
      <p>{consequence}</p>
      <label class="field">
        Reason{needsReason === true ? '' : ' (optional)'}
        <input
          type="text"
          maxLength={500}
          value={reason.value}
          onInput={(event) => {
            reason.value = event.currentTarget.value
          }}
        />
      </label>
      {refusal.value !== undefined && (
        <p class="notice stale" role="alert">
          {refusal.value}
        </p>
      )}
      <div class="buttons">
        <button type="button" autofocus onClick={onClose}>
          Keep as it is
        </button>
        <button
          type="button"
          class="primary"
          disabled={isBusy.value || (needsReason === true && reason.value.trim() === '')}
          onClick={run}
        >
          {isBusy.value ? 'Working…' : name}
        </button>
      </div>
    </Dialog>
  )
}
