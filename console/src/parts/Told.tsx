// Words that change by themselves, such as a count. They are seen at once; who hears the page hears the newest of them, and of all that
// the page has to tell at most one sentence in five seconds.
import { useEffect, useRef, useState } from 'preact/hooks'

const PACE_MS = 5_000

/** Who has something to tell, in order. */
const waiting = new Set<() => void>()
let pause: ReturnType<typeof setTimeout> | undefined

function takeTurn(tell: () => void): void {
  waiting.add(tell)
  if (pause === undefined) tellNext()
}

function tellNext(): void {
  const [tell] = waiting
  pause = undefined
  if (tell === undefined) return
  waiting.delete(tell)
  pause = setTimeout(tellNext, PACE_MS)
  tell()
}

export function Told({ text }: { text: string }) {
  const [said, say] = useState('')
  const newest = useRef(text)
  newest.current = text
  const { current: tell } = useRef(() => say(newest.current))
  useEffect(() => {
    if (text !== said) takeTurn(tell)
  }, [text])
  useEffect(() => () => void waiting.delete(tell), [])
  const isNew = text !== said
  // What is said stays as it is until its next turn: a change of it would be told.
  return (
    <>
      {isNew && <span aria-hidden="true">{text}</span>}
      <span key="said" role="status" class={isNew ? 'visually-hidden' : ''}>
        {said}
      </span>
    </>
  )
}
