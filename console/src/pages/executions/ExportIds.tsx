// The ids of what was chosen as a file, one per line, for whatever is done with them elsewhere.
import { useAttempt } from '../../lib/useAttempt'
import { type BulkScope, idsOf } from './bulk'

export function ExportIds({ scope }: { scope: BulkScope }) {
  const { isBusy, refusal, run } = useAttempt()
  const write = (): Promise<void> => run(async () => save(`${(await idsOf(scope)).join('\n')}\n`))
  return (
    <>
      <button type="button" disabled={isBusy} title="A file with one id per line" onClick={write}>
        {isBusy ? 'Reading…' : 'Export ids'}
      </button>
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
