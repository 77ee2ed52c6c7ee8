// Holds many logs against what was made of them: full fold, stored snapshot and read model must agree. A job of the daemon.
import { useSignal } from '@preact/signals'
import { send } from '../../lib/api'
import { ask } from '../../lib/router'
import { whyNotOperator } from '../../lib/session'
import { whole } from '../../lib/time'
import { useAttempt } from '../../lib/useAttempt'
import { ActButton } from '../../parts/ActButton'
import { Dialog } from '../../parts/Dialog'
import type { JobAnswer } from '../../parts/jobKinds'

const HOUR_MS = 3_600_000
const SPANS = [
  ['the last hour', HOUR_MS],
  ['the last day', 24 * HOUR_MS],
  ['the last week', 168 * HOUR_MS],
  ['any time', 0],
] as const
const SIZES = [100, 1_000, 10_000, 100_000]
const SIZE_DEFAULT = 1_000

export function VerifyMany() {
  const isOpen = useSignal(false)
  const why = whyNotOperator.value
  return (
    <>
      <ActButton
        why={why}
        meaning="Compares full fold, snapshot and read model of many executions; changes nothing"
        onClick={() => {
          isOpen.value = true
        }}
      >
        Verify many…
      </ActButton>
      {isOpen.value && (
        <VerifyDialog
          onClose={() => {
            isOpen.value = false
          }}
        />
      )}
    </>
  )
}

function VerifyDialog({ onClose }: { onClose: () => void }) {
  const { isBusy, refusal, run } = useAttempt()
  const begin = (form: HTMLFormElement): Promise<void> =>
    run(async () => {
      const given = new FormData(form)
      const span = Number(given.get('span'))
      const since = span === 0 ? null : new Date(Date.now() - span).toISOString()
      const job = await send<JobAnswer>('POST', '/api/replay/verify', { since, limit: Number(given.get('limit')) })
      onClose()
      ask({ job: job.job_id })
    })
  return (
    <Dialog title="Verify many" onClose={onClose}>
      <p>
        Folds each log from its first event and compares that with the snapshot and the read model. Changes nothing.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void begin(event.currentTarget)
        }}
      >
        <label class="field">
          Heard of within
          <select name="span">
            {SPANS.map(([name, ms]) => (
              <option key={name} value={ms}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          At most
          <select name="limit">
            {SIZES.map((size) => (
              <option key={size} value={size} selected={size === SIZE_DEFAULT}>
                {whole(size)} executions
              </option>
            ))}
          </select>
        </label>
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Close
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            Verify
          </button>
        </div>
      </form>
      {refusal !== undefined && (
        <p class="notice stale" role="alert">
          {refusal}
        </p>
      )}
    </Dialog>
  )
}
