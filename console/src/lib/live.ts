// Whether screens follow what happens, and the ticks they follow it by. A hidden page asks nothing.
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { isStreaming } from './streaming'

export const live = signal(true)

/** Bells by topic; a message of the stream rings them. */
const listeners = new Map<string, Set<() => void>>()
/** Topics that somebody listens to, in order, with spaces between them. */
export const wantedTopics = signal('')

/** The daemon tells of nothing else, and one wrong topic would end the stream of every tab. */
const ID_MAX = 2n ** 63n - 1n

function canBeTold(topic: string): boolean {
  const id = /^execution:(.*)$/s.exec(topic)?.[1]
  return id === undefined || (/^[1-9]\d{0,18}$/.test(id) && BigInt(id) <= ID_MAX)
}

/** Beside the doorbell; hints may be lost. */
const BESIDE_BELL_MS = 15_000
/** A bell that rings all the time is answered so often. */
const RING_MS = 300

export function ringTopic(topic: string): void {
  for (const ring of [...(listeners.get(topic) ?? [])]) ring()
}

export function ringAll(): void {
  for (const topic of [...listeners.keys()]) ringTopic(topic)
}

/** A number that grows every so often, and whenever one of the topics rings; also when a page with either of them is seen again. */
export function useTick(everyMs: number | undefined, wanted: readonly string[] = []): number {
  const topics = wanted.filter(canBeTold)
  const [tick, setTick] = useState(0)
  const key = topics.join(' ')
  const hasBell = isStreaming.value && topics.length > 0
  const paceMs = hasBell && everyMs !== undefined ? Math.max(everyMs, BESIDE_BELL_MS) : everyMs
  useEffect(() => {
    // What is asked once stays as it is, however often somebody looks elsewhere: it may be a document of megabytes.
    if (paceMs === undefined && key === '') return
    const bump = (): void => {
      if (!document.hidden) setTick((before) => before + 1)
    }
    const timer = paceMs === undefined ? undefined : setInterval(bump, paceMs)
    document.addEventListener('visibilitychange', bump)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', bump)
    }
  }, [paceMs, key])
  useEffect(() => {
    let waiting: ReturnType<typeof setTimeout> | undefined
    const ring = (): void => {
      waiting ??= setTimeout(() => {
        waiting = undefined
        if (!document.hidden) setTick((before) => before + 1)
      }, RING_MS)
    }
    for (const topic of topics) listen(topic, ring)
    return () => {
      clearTimeout(waiting)
      for (const topic of topics) forget(topic, ring)
    }
  }, [key])
  return tick
}

function listen(topic: string, ring: () => void): void {
  if (!listeners.has(topic)) listeners.set(topic, new Set())
  listeners.get(topic)!.add(ring)
  wantedTopics.value = [...listeners.keys()].sort().join(' ')
}

function forget(topic: string, ring: () => void): void {
  listeners.get(topic)?.delete(ring)
  if (listeners.get(topic)?.size === 0) listeners.delete(topic)
  wantedTopics.value = [...listeners.keys()].sort().join(' ')
}
