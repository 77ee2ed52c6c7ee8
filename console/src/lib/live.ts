// Whether screens follow what happens, and the ticks they follow it by. A hidden page asks nothing.
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'

export const live = signal(true)

/** A number that grows every so often. */
export function useTick(everyMs: number | undefined): number {
  const [tick, setTick] = useState(0)
  useEffect(() => {
    const bump = (): void => {
      if (!document.hidden) setTick((before) => before + 1)
    }
    const timer = everyMs === undefined ? undefined : setInterval(bump, everyMs)
    document.addEventListener('visibilitychange', bump)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', bump)
    }
  }, [everyMs])
  return tick
}
