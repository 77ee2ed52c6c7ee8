// Why an execution of the list has not ended, beside the list. It is in the address, so it can be linked.
import { ask, hrefOf } from '../../lib/router'
import { Dialog } from '../../parts/Dialog'
import { WhyTab } from '../execution/WhyTab'

export function WhyDrawer({ id }: { id: string }) {
  const close = (): void => ask({ why: undefined }, { replace: true })
  return (
    <Dialog title="Why it has not ended" kind="drawer" onClose={close}>
      <div class="buttons">
        <a class="mono" href={hrefOf(`/executions/${id}`, { tab: 'why' })}>
          {id}
        </a>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      <WhyTab run={{ execution_id: id }} />
    </Dialog>
  )
}
