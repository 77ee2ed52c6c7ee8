// Above a hundred, how many it is about is written by hand before anything is done.
import type { Signal } from '@preact/signals'
import { whole } from '../lib/time'

const TYPED_ABOVE = 100

export function isTyped(count: number, typed: string): boolean {
  return count <= TYPED_ABOVE || typed.replace(/\D/g, '') === String(count)
}

export function TypedNumber({ count, typed }: { count: number; typed: Signal<string> }) {
  if (count <= TYPED_ABOVE) return null
  return (
    <label class="field">
      To confirm, write the number {whole(count)}
      <input
        type="text"
        inputMode="numeric"
        value={typed.value}
        onInput={(event) => {
          typed.value = event.currentTarget.value
        }}
      />
    </label>
  )
}
