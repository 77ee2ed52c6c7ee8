// One act on many executions: first what it would do, then why; the rest is a job that the list shows.

import { useSignal } from '@preact/signals'
import { send } from '../../lib/api'
import { counted } from '../../lib/counted'
import { ask, hrefOf } from '../../lib/router'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Agreement } from '../../parts/Agreement'
import { Dialog } from '../../parts/Dialog'
import type { JobAnswer } from '../../parts/jobKinds'
import { Panel } from '../../parts/Panel'
import type { Order } from '../../parts/SameAct'
import { Status } from '../../parts/Status'
import { ACTIONS, type BulkAction, type BulkPlan, type BulkScope, dryRun, orderOf } from './bulk'
import { ENDINGS } from './orders'

interface BulkProps {
  action: BulkAction
  scope: BulkScope
  onClose: () => void
  onBegun: () => void
}

export function BulkDialog(props: BulkProps) {
  const { action, scope, onClose } = props
  const plan = useResource(`dry run of ${action} ${JSON.stringify(scope)}`, () => dryRun(action, scope))
  const { name, done } = ACTIONS[action]
  return (
    <Dialog title={`${name} executions`} onClose={onClose}>
      <Panel
        resource={plan}
        isEmpty={(planned) => !isOfUse(action, planned)}
        empty={
          <p>
            Dry run: nothing can be {done}. {plan.data === undefined ? '' : statusText(plan.data)}
          </p>
        }
      >
        {(planned) => <Plan {...props} planned={planned} />}
      </Panel>
      {(plan.data === undefined || !isOfUse(action, plan.data)) && (
        <div class="buttons section">
          <button type="button" onClick={onClose}>
            Close
          </button>
        </div>
      )}
    </Dialog>
  )
}

/** Those that have ended may have started others that have not. */
function isOfUse(action: BulkAction, { matched, concerned }: BulkPlan): boolean {
  return concerned > 0 || (action === 'cancel' && matched > 0)
}

function Plan({ action, scope, planned, onClose, onBegun }: BulkProps & { planned: BulkPlan }) {
  const { name, done, consequence } = ACTIONS[action]
  const cascade = useSignal(false)
  const status = useSignal('FAILED')
  const { matched, concerned, more } = planned
  const order = (reason: string): Order =>
    orderOf(action, scope, planned, { reason, cascade: cascade.value, status: status.value })
  const act = async (reason: string): Promise<void> => {
    const { path, body } = order(reason)
    const job = await send<JobAnswer>('POST', path, body)
    onClose()
    onBegun()
    ask({ job: job.job_id })
  }
  return (
    <>
      <p>
        Dry run: {whole(concerned)} of {more ? 'the first ' : ''}
        {counted(matched, 'execution')} would be {done}. {consequence} Nothing is changed yet.
      </p>
      {concerned < matched && (
        <p>
          The other {whole(matched - concerned)} would be refused, because of their status. All by status:{' '}
          {statusText(planned)}
        </p>
      )}
      <Sample planned={planned} />
      {action === 'cancel' && (
        <label class="buttons">
          <input
            type="checkbox"
            checked={cascade.value}
            onChange={(event) => {
              cascade.value = event.currentTarget.checked
            }}
          />
          Everything that they have started, too
        </label>
      )}
      {action === 'finalize' && (
        <label class="field">
          End as
          <select
            value={status.value}
            onChange={(event) => {
              status.value = event.currentTarget.value
            }}
          >
            {ENDINGS.options.map(({ value }) => (
              <option key={value}>{value}</option>
            ))}
          </select>
        </label>
      )}
      <Agreement
        act={`${name} ${counted(matched, 'execution')}`}
        count={matched}
        hint="kept with every act"
        isReady={concerned > 0 || cascade.value}
        order={order}
        onAct={act}
        onClose={onClose}
      />
    </>
  )
}

function Sample({ planned: { sample, matched } }: { planned: BulkPlan }) {
  return (
    <div class="scroll sample">
      <table class="wide">
        {sample.length < matched && <caption>The first {sample.length}</caption>}
        <thead>
          <tr>
            <th>Execution</th>
            <th>Status</th>
          </tr>
        </thead>
        <tbody>
          {sample.map(({ execution_id: id, status }) => (
            <tr key={id}>
              <td>
                <a class="mono" href={hrefOf(`/executions/${id}`)} target="_blank" rel="noreferrer">
                  {id}
                </a>
              </td>
              <td>
                <Status status={status} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function statusText({ by_status: counts }: BulkPlan): string {
  const words = Object.entries(counts).map(([status, count]) => `${whole(count)} ${status.toLowerCase()}`)
  return words.length === 0 ? 'No execution matches any more.' : `${words.join(', ')}.`
}
