// Keys of the console. A screen adds its own while it is shown; no key acts on the installation by itself.
import { useLayoutEffect, useRef } from 'preact/hooks'

export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>

/** Each with the keys of the newest drawing: a key that comes between a drawing and its effects must not act on the last one. */
const layers: { current: Keys }[] = []
/** The first key of two, and when it was pressed. */
let chord: { key: string; atMs: number } | undefined
const CHORD_MS = 1_000
/** Nothing is written into it: who has ticked rows goes on with the keys of the screen. */
const TICK = 'input[type=checkbox]'

/** `g o` is two keys one after the other; a letter in capitals is with Shift. */
export function useKeys(keys: Keys): void {
  const newest = useRef(keys)
  newest.current = keys
  // With the drawing, not after it: what is seen can be worked with.
  useLayoutEffect(() => {
    layers.push(newest)
    return () => {
      layers.splice(layers.indexOf(newest), 1)
    }
  }, [])
}

export function listenToKeys(): void {
  window.addEventListener('keydown', (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return
    if (document.querySelector('dialog[open]') !== null) return
    if (isWriting(event.target)) {
      // Out of a field, back to the keys of the screen.
      if (event.key === 'Escape') event.target.blur()
      return
    }
    const key = event.key === ' ' ? 'Space' : event.key
    if ((key === 'Enter' || key === 'Space') && isPressable(event.target)) return
    // By when they were pressed, not by when a busy page comes to it.
    const isSecond = chord !== undefined && event.timeStamp - chord.atMs <= CHORD_MS
    const wanted = isSecond ? `${chord!.key} ${key}` : key
    chord = undefined
    for (const layer of [...layers].reverse()) {
      const act = layer.current[wanted]
      if (act === undefined) continue
      event.preventDefault()
      act(event)
      return
    }
    if (key === 'g') chord = { key, atMs: event.timeStamp }
  })
}

/** Reached by Tab, it is pressed by these keys itself. One that was clicked lets them through to the screen. */
function isPressable(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false
  return target.matches(TICK) || (target.matches('a[href], button, summary') && target.matches(':focus-visible'))
}

function isWriting(target: EventTarget | null): target is HTMLElement {
  if (!(target instanceof HTMLElement) || target.matches(TICK)) return false
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
}
