// Tells a job to stop; what it has done stays done.
import { useSignal } from '@preact/signals'
import { ApiError, send } from '../lib/api'

export function StopJob({ id, onStopped }: { id: string; onStopped: () => void }) {
  const refusal = useSignal<string | undefined>(undefined)
  const stop = (): void => {
    refusal.value = undefined
    send('POST', `/api/bulk/${encodeURIComponent(id)}/stop`).then(onStopped, (error: unknown) => {
      refusal.value = error instanceof ApiError ? error.message : String(error)
    })
  }
  return (
    <>
      <button type="button" title="What is done stays done" onClick={stop}>
        Stop
      </button>
      {refusal.value !== undefined && (
        <span class="failed" role="alert">
          {refusal.value}
        </span>
      )}
    </>
  )
}
