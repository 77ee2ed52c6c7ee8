// The ids of what was chosen as a file, one per line, for whatever is done with them elsewhere.
import { useSignal } from '@preact/signals'
import { ApiError } from '../../lib/api'
import { type BulkScope, idsOf } from './bulk'

export function ExportIds({ scope }: { scope: BulkScope }) {
  const isBusy = useSignal(false)
  const refusal = useSignal<string | undefined>(undefined)
  const run = async (): Promise<void> => {
    isBusy.value = true
    refusal.value = undefined
    try {
      save(`${(await idsOf(scope)).join('\n')}\n`)
    } catch (error) {
      refusal.value = error instanceof ApiError ? error.message : String(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <>
      <button type="button" disabled={isBusy.value} title="A file with one id per line" onClick={run}>
        {isBusy.value ? 'Reading…' : 'Export ids'}
      </button>
      {refusal.value !== undefined && (
        <span class="failed" role="alert">
          {refusal.value}
        </span>
      )}
    </>
  )
}

function save(text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = address
  link.download = 'executions.txt'
  link.click()
  URL.revokeObjectURL(address)
}
