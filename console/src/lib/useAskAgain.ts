// What failed for want of an answer is asked again: more and more seldom, and at once when the daemon answers somebody else or
// its stream is back.
import { effect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type ApiError, silentSince } from './api'
import { isStreaming } from './streaming'

const FIRST_MS = 1_000
const LAST_MS = 30_000

export function useAskAgain(error: ApiError | undefined, ask: () => void): void {
  const tries = useRef(0)
  const newest = useRef(ask)
  newest.current = ask
  useEffect(() => {
    if (error === undefined) tries.current = 0
    if (error?.status !== 0) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const askIn = (ms: number): void => {
      clearTimeout(timer)
      // A hidden page asks nothing.
      timer = setTimeout(() => (document.hidden ? askIn(FIRST_MS) : newest.current()), ms)
    }
    askIn(Math.min(LAST_MS, FIRST_MS * 2 ** tries.current) * (0.5 + Math.random() / 2))
    tries.current++
    let hasBegun = false
    const stop = effect(() => {
      const isBack = silentSince.value === undefined || isStreaming.value
      if (hasBegun && isBack) askIn(0)
      hasBegun = true
    })
    return () => {
      clearTimeout(timer)
      stop()
    }
  }, [error])
}
