// A box to write a position or a time into; Enter goes there.
import { useState } from 'preact/hooks'
import type { RunTape } from './tape'
import { NoMoment, positionWritten } from './writtenMoment'

export function Jump({ run, go }: { run: RunTape; go: (to: number) => void }) {
  const [refusal, setRefusal] = useState<string>()
  const jump = (box: HTMLInputElement): void => {
    if (box.value.trim() === '') return
    try {
      go(positionWritten(box.value, run))
    } catch (error) {
      if (!(error instanceof NoMoment)) throw error
      setRefusal(error.message)
      return
    }
    setRefusal(undefined)
    box.value = ''
    // The keys of the scrubber go on from here.
    box.blur()
  }
  return (
    <form
      class="jump"
      onSubmit={(event) => {
        event.preventDefault()
        jump(event.currentTarget.elements.namedItem('moment') as HTMLInputElement)
      }}
    >
      <input
        type="text"
        name="moment"
        autocomplete="off"
        aria-label="Go to a position or time"
        aria-invalid={refusal !== undefined}
        aria-describedby={refusal === undefined ? undefined : 'jump-refusal'}
        placeholder="Position or time"
        title="A position (12), a time (12:30:05, 2026-11-17 12:30) or how long after the first event (+1.5s)"
        onInput={() => setRefusal(undefined)}
      />
      {refusal !== undefined && (
        <span id="jump-refusal" class="failed" role="alert">
          {refusal}
        </span>
      )}
    </form>
  )
}
