// Tells a job to stop; what it has done stays done.
import { send } from '../lib/api'
import { useAttempt } from '../lib/useAttempt'

export function StopJob({ id, onStopped }: { id: string; onStopped: () => void }) {
  const { refusal, run } = useAttempt()
  const stop = (): Promise<void> =>
    run(async () => {
      await send('POST', `/api/bulk/${encodeURIComponent(id)}/stop`)
      onStopped()
    })
  return (
    <>
      <button type="button" title="What is done stays done" onClick={stop}>
        Stop
      </button>
      {refusal !== undefined && (
        <span class="failed" role="alert">
          {refusal}
        </span>
      )}
    </>
  )
}
