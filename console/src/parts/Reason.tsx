// Why something is done: kept with the act, for whoever asks later.
import type { Signal } from '@preact/signals'

interface ReasonProps {
  reason: Signal<string>
  isOptional?: boolean
  hint?: string
}

export function Reason({ reason, isOptional = false, hint }: ReasonProps) {
  return (
    <label class="field">
      Reason{isOptional ? ' (optional)' : ''}
      <input
        type="text"
        maxLength={500}
        placeholder={hint}
        value={reason.value}
        onInput={(event) => {
          reason.value = event.currentTarget.value
        }}
      />
    </label>
  )
}
