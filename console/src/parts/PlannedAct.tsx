// A button whose dialog says first what it would do: how many, and the first of them. Then it asks for a reason, and for the number
// where it is large. Nothing is done before.
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { send } from '../lib/api'
import { whyNotOperator } from '../lib/session'
import { useAttempt } from '../lib/useAttempt'
import { useResource } from '../lib/useResource'
import { ActButton } from './ActButton'
import { Confirm } from './Confirm'
import { Dialog } from './Dialog'
import { Panel } from './Panel'
import { Reason } from './Reason'
import type { Order } from './SameAct'
import { isTyped, TypedNumber } from './TypedNumber'

export interface Plan {
  count: number
  /** What would be different, and the first of what it is about. */
  told: ComponentChildren
}

interface PlannedActProps<T> {
  name: string
  /** The dry run. */
  plan: () => Promise<Plan>
  /** What is said when it is about nothing. */
  nothing: string
  order: (reason: string) => Order
  onDone: (answer: T) => void
}

export function PlannedAct<T>(props: PlannedActProps<T>) {
  const isOpen = useSignal(false)
  const why = whyNotOperator.value
  return (
    <>
      <ActButton
        why={why}
        meaning="First shows what it would do"
        onClick={() => {
          isOpen.value = true
        }}
      >
        {props.name}…
      </ActButton>
      {isOpen.value && (
        <PlanDialog
          {...props}
          onClose={() => {
            isOpen.value = false
          }}
        />
      )}
    </>
  )
}

function PlanDialog<T>({ name, plan, nothing, order, onDone, onClose }: PlannedActProps<T> & { onClose: () => void }) {
  const planned = useResource(`dry run of ${name}`, plan)
  const [reason, typed] = [useSignal(''), useSignal('')]
  const attempt = useAttempt()
  const count = planned.data?.count ?? 0
  const sent = order(reason.value.trim())
  const run = (): Promise<void> =>
    attempt.run(async () => {
      const answer = await send<T>('POST', sent.path, sent.body)
      onClose()
      onDone(answer)
    })
  return (
    <Dialog title={name} onClose={onClose}>
      <Panel resource={planned} isEmpty={(data) => data.count === 0} empty={<p>{nothing}</p>}>
        {({ told }) => (
          <>
            {told}
            <Reason reason={reason} hint="for the record: why now" />
            <TypedNumber count={count} typed={typed} />
            <Confirm
              act={name}
              attempt={attempt}
              isReady={reason.value.trim() !== '' && isTyped(count, typed.value)}
              order={sent}
              onAct={run}
              onClose={onClose}
            />
          </>
        )}
      </Panel>
      {count === 0 && (
        <div class="buttons section">
          <button type="button" onClick={onClose}>
            Close
          </button>
        </div>
      )}
    </Dialog>
  )
}
