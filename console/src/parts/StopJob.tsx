// Tells a job to stop; what it has done stays done.
import { send } from '../lib/api'
import { whyNotOperator } from '../lib/session'
import { useAttempt } from '../lib/useAttempt'
import { ActButton } from './ActButton'

export function StopJob({ id, onStopped }: { id: string; onStopped: () => void }) {
  const { isBusy, refusal, run } = useAttempt()
  const stop = (): Promise<void> =>
    run(async () => {
      await send('POST', `/api/bulk/${encodeURIComponent(id)}/stop`)
      onStopped()
    })
  return (
    <>
      <ActButton why={whyNotOperator.value} meaning="What is done stays done" isBusy={isBusy} onClick={stop}>
        Stop
      </ActButton>
      {refusal !== undefined && (
        <span class="failed" role="alert">
          {refusal}
        </span>
      )}
    </>
  )
}
