// A button whose dialog says first what it would do: how many, and the first of them. Then it asks for a reason, and for the number
// where it is large. Nothing is done before.
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { send } from '../lib/api'
import { whyNotOperator } from '../lib/session'
import { useResource } from '../lib/useResource'
import { ActButton } from './ActButton'
import { Agreement } from './Agreement'
import { Dialog } from './Dialog'
import { Panel } from './Panel'
import type { Order } from './SameAct'

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
  const count = planned.data?.count ?? 0
  const act = async (reason: string): Promise<void> => {
    const { path, body } = order(reason)
    const answer = await send<T>('POST', path, body)
    onClose()
    onDone(answer)
  }
  return (
    <Dialog title={name} onClose={onClose}>
      <Panel resource={planned} isEmpty={(data) => data.count === 0} empty={<p>{nothing}</p>}>
        {({ told }) => (
          <>
            {told}
            <Agreement
              act={name}
              count={count}
              hint="for the record: why now"
              order={order}
              onAct={act}
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
