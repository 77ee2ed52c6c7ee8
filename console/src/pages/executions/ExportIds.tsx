// The ids of what was chosen as a file, one per line, for whatever is done with them elsewhere.
import { useSignal } from '@preact/signals'
import { whole } from '../../lib/time'
import { useAttempt } from '../../lib/useAttempt'
import { type BulkScope, idsOf } from './bulk'

export function ExportIds({ scope }: { scope: BulkScope }) {
  const { isBusy, refusal, run } = useAttempt()
  const cut = useSignal<number | undefined>(undefined)
  const write = (): Promise<void> =>
    run(async () => {
      const { ids, more } = await idsOf(scope)
      cut.value = more ? ids.length : undefined
      save(`${ids.join('\n')}\n`)
    })
  return (
    <>
      <button type="button" disabled={isBusy} title="A file with one id per line" onClick={write}>
        {isBusy ? 'Reading…' : 'Export ids'}
      </button>
      {cut.value !== undefined && <span role="status">The file has the first {whole(cut.value)}.</span>}
      {refusal !== undefined && (
        <span class="failed" role="alert">
          {refusal}
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
