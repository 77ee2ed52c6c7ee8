// A button that acts on the installation: it opens a dialog that says what follows, asks for a reason, and keeps everything
// as it is unless told otherwise. Without the right to act it says why.

import { useSignal } from '@preact/signals'
import { ApiError } from '../lib/api'
import { useKeys } from '../lib/keys'
import { whyNotOperator, whyNotWriter } from '../lib/session'
import { Confirm } from './Confirm'
import { Dialog } from './Dialog'
import type { Same } from './SameAct'

export interface ActProps {
  name: string
  /** One sentence: what will be different. */
  consequence: string
  needsReason?: boolean
  /** Anyone who may write may do it. */
  isPublic?: boolean
  /** One of several, beside the reason. */
  choice?: { label: string; options: readonly { value: string; name: string }[] }
  /** Opens the dialog. */
  hotkey?: string
  act: (reason: string, choice: string) => Promise<unknown>
  /** The same as a command and a request. */
  same?: (reason: string, choice: string) => Same
  onDone: () => void
}

export function Act(props: ActProps) {
  const isOpen = useSignal(false)
  const why = props.isPublic === true ? whyNotWriter.value : whyNotOperator.value
  const open = (): void => {
    isOpen.value = why === undefined
  }
  useKeys(props.hotkey === undefined ? {} : { [props.hotkey]: open })
  return (
    <>
      <button type="button" disabled={why !== undefined} title={why ?? props.consequence} onClick={open}>
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

function ActDialog(props: ActProps & { onClose: () => void }) {
  const { name, consequence, needsReason, choice, act, same, onDone, onClose } = props
  const reason = useSignal('')
  const chosen = useSignal(choice?.options[0]?.value ?? '')
  const isBusy = useSignal(false)
  const refusal = useSignal<string | undefined>(undefined)
  const run = async (): Promise<void> => {
    isBusy.value = true
    refusal.value = undefined
    try {
      await act(reason.value.trim(), chosen.value)
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
      {choice !== undefined && (
        <label class="field">
          {choice.label}
          <select
            value={chosen.value}
            onChange={(event) => {
              chosen.value = event.currentTarget.value
            }}
          >
            {choice.options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.name}
              </option>
            ))}
          </select>
        </label>
      )}
      <Confirm
        act={name}
        refusal={refusal.value}
        isBusy={isBusy.value}
        isReady={needsReason !== true || reason.value.trim() !== ''}
        same={same?.(reason.value.trim(), chosen.value)}
        onAct={run}
        onClose={onClose}
      />
    </Dialog>
  )
}
