// A button that acts on the installation: it opens a dialog that says what follows, asks for a reason, and keeps everything
// as it is unless told otherwise. Without the right to act it says why.

import { useSignal } from '@preact/signals'
import { send } from '../lib/api'
import { useKeys } from '../lib/keys'
import { whyNotOperator, whyNotWriter } from '../lib/session'
import { useAttempt } from '../lib/useAttempt'
import { ActButton } from './ActButton'
import { Confirm } from './Confirm'
import { Dialog } from './Dialog'
import { Reason } from './Reason'
import type { Order } from './SameAct'
import { isTyped, TypedNumber } from './TypedNumber'

interface Option {
  value: string
  name: string
  /** How many things it is about, where it may be many. */
  count?: number
}

export interface ActProps<T> {
  name: string
  /** One sentence: what will be different. */
  consequence: string
  needsReason?: boolean
  /** Anyone who may write may do it. */
  isPublic?: boolean
  /** One of several, beside the reason. */
  choice?: { label: string; options: readonly Option[] }
  /** Opens the dialog. */
  hotkey?: string
  /** What is sent, and shown to be copied. */
  order: (reason: string, choice: string) => Order
  /** Instead of sending it once. */
  act?: (order: Order) => Promise<T>
  onDone: (answer: T) => void
}

export function Act<T = unknown>(props: ActProps<T>) {
  const isOpen = useSignal(false)
  const why = props.isPublic === true ? whyNotWriter.value : whyNotOperator.value
  const open = (): void => {
    isOpen.value = why === undefined
  }
  useKeys(props.hotkey === undefined ? {} : { [props.hotkey]: open })
  return (
    <>
      <ActButton why={why} meaning={props.consequence} onClick={open}>
        {props.name}…
      </ActButton>
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

function ActDialog<T>(props: ActProps<T> & { onClose: () => void }) {
  const { name, consequence, needsReason = false, choice, act = sendOnce, onDone, onClose } = props
  const reason = useSignal('')
  const chosen = useSignal(choice?.options[0]?.value ?? '')
  const typed = useSignal('')
  const { count = 1 } = choice?.options.find(({ value }) => value === chosen.value) ?? {}
  const attempt = useAttempt()
  const order = props.order(reason.value.trim(), chosen.value)
  const run = (): Promise<void> =>
    attempt.run(async () => {
      const answer = await act(order)
      onClose()
      onDone(answer)
    })
  return (
    <Dialog title={name} onClose={onClose}>
      <p>{consequence}</p>
      <Reason reason={reason} isOptional={!needsReason} />
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
      <TypedNumber count={count} typed={typed} />
      <Confirm
        act={name}
        attempt={attempt}
        isReady={(!needsReason || reason.value.trim() !== '') && isTyped(count, typed.value)}
        order={order}
        onAct={run}
        onClose={onClose}
      />
    </Dialog>
  )
}

function sendOnce<T>({ path, body }: Order): Promise<T> {
  return send('POST', path, body)
}
