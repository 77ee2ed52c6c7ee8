// Whether screens follow what happens, and the ticks they follow it by. A hidden page asks nothing.
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'

export const live = signal(true)

/** Bells by topic; a message of the stream rings them. */
const listeners = new Map<string, Set<() => void>>()

/** A number that grows every so often, and whenever one of the topics rings. */
export function useTick(everyMs: number | undefined, topics: readonly string[] = []): number {
  const [tick, setTick] = useState(0)
  const key = topics.join(' ')
  useEffect(() => {
    const bump = (): void => {
      if (!document.hidden) setTick((before) => before + 1)
    }
    const timer = everyMs === undefined ? undefined : setInterval(bump, everyMs)
    for (const topic of topics) {
      if (!listeners.has(topic)) listeners.set(topic, new Set())
      listeners.get(topic)!.add(bump)
    }
    document.addEventListener('visibilitychange', bump)
    return () => {
      clearInterval(timer)
      for (const topic of topics) listeners.get(topic)?.delete(bump)
      document.removeEventListener('visibilitychange', bump)
    }
  }, [everyMs, key])
  return tick
}
