// Playing: the handle goes through the log by itself, as fast as the run went, or a multiple of it, or event by event.
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { isPlaying } from './cursor'
import type { RunTape } from './tape'

export const SPEEDS = {
  whole: 'all in 10 s',
  '1': '1×',
  '10': '10×',
  '100': '100×',
  second: 'one event a second',
} as const

export type Speed = keyof typeof SPEEDS

export const speed = signal<Speed>('whole')

/** At the end there is nothing to come: it begins anew. */
export function togglePlay(run: RunTape, position: number, go: (to: number) => void): void {
  if (!isPlaying.value && position >= run.length) go(0)
  isPlaying.value = !isPlaying.value
}

/** The page is drawn at most so often. Who wants no motion gets steps to read. */
const FRAME_MS = 50
const STEP_MS = 1_000
const wantsSteps = matchMedia('(prefers-reduced-motion: reduce)')
const frameMs = (): number => (wantsSteps.matches ? STEP_MS : FRAME_MS)
/** Nobody watches a run wait. */
const PAUSE_MAX_MS = 2_000

interface Step {
  position: number
  afterMs: number
}

export function usePlay(run: RunTape, position: number, go: (to: number) => void): void {
  const newest = useRef(go)
  newest.current = go
  // A log that grows meanwhile must not begin the wait anew.
  useEffect(() => {
    if (!isPlaying.value) return
    if (position >= run.length) {
      isPlaying.value = false
      return
    }
    const next = nextStep(run, position, speed.value)
    const timer = setTimeout(() => newest.current(next.position), next.afterMs)
    return () => clearTimeout(timer)
  }, [position, isPlaying.value, speed.value])
}

function nextStep(run: RunTape, position: number, how: Speed): Step {
  if (how === 'second') return { position: position + 1, afterMs: 1_000 }
  return how === 'whole' ? evenStep(run, position) : clockStep(run, position, Number(how))
}

/** About ten seconds for the whole run, but never fewer than two events a second. */
function evenStep({ length }: RunTape, position: number): Step {
  const perMs = Math.max(2, length / 10) / 1_000
  const events = Math.max(1, Math.round(perMs * frameMs()))
  return { position: position + events, afterMs: events / perMs }
}

/** To the last event that the clock of the run reaches within a frame, or to the next one. */
function clockStep({ tape, length }: RunTape, position: number, times: number): Step {
  const clock = tape.columns['time']!
  const from = clock[Math.max(0, position - 1)]!
  const waitMs = (to: number): number => (clock[to - 1]! - from) / times
  const frame = frameMs()
  let next = position + 1
  while (next < length && waitMs(next + 1) <= frame) next++
  const atLeast = wantsSteps.matches ? frame : 0
  return { position: next, afterMs: Math.max(atLeast, Math.min(PAUSE_MAX_MS, waitMs(next))) }
}
