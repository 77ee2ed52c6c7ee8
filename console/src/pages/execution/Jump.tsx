// A box to write a moment into, by its position, version, event id or time; Enter goes there.
import { useState } from 'preact/hooks'
import { ApiError } from '../../lib/api'
import type { RunTape } from './tape'
import { NoMoment, positionWritten } from './writtenMoment'

export function Jump({ run, go }: { run: RunTape; go: (to: number) => void }) {
  const [refusal, setRefusal] = useState<string>()
  const jump = async (box: HTMLInputElement): Promise<void> => {
    const written = box.value
    if (written.trim() === '') return
    try {
      const position = await positionWritten(written, run)
      // Somebody writes on already.
      if (box.value !== written) return
      go(position)
    } catch (error) {
      if (!(error instanceof NoMoment || error instanceof ApiError)) throw error
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
        void jump(event.currentTarget.elements.namedItem('moment') as HTMLInputElement)
      }}
    >
      <input
        type="text"
        name="moment"
        autocomplete="off"
        aria-label="Go to a moment"
        aria-invalid={refusal !== undefined}
        aria-describedby={refusal === undefined ? undefined : 'jump-refusal'}
        placeholder="Go to …"
        title="A position (12), a version (v12), an event id, a time (12:30:05, 2026-11-17 12:30) or how long after the first event (+1.5s)"
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
