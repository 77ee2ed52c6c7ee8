// Doorbells of the daemon while the page is seen: they say what has changed, and whoever shows it asks again. One stream serves
// all tabs of a browser. Without it, or behind a proxy that holds it back, screens ask by themselves as often as they did before.
import { effect } from '@preact/signals'
import { silentSince } from './api'
import { live, ringAll, ringTopic, wantedTopics } from './live'
import { PREFIX } from './prefix'
import { isStreaming } from './streaming'
import { createStreamReader, type StreamMessage } from './streamReader'
import type { FromTab, ToTab } from './streamWorker'
import streamWorker from './streamWorker?sharedworker&url'
import { startSharedWorker } from './workers'

const HIDDEN_MS = 30_000

interface Bells {
  want(topics: readonly string[]): void
  wake(): void
}

export function followStream(): void {
  const bells = typeof SharedWorker === 'undefined' ? ownBells() : sharedBells()
  let isAway = false
  let hiddenTimer: ReturnType<typeof setTimeout> | undefined
  const want = (): void => {
    const topics = live.value && !isAway ? wantedTopics.value : ''
    bells.want(topics === '' ? [] : topics.split(' '))
  }
  effect(want)
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiddenTimer)
    const turn = (): void => {
      isAway = document.hidden
      want()
    }
    if (document.hidden) hiddenTimer = setTimeout(turn, HIDDEN_MS)
    else if (isAway) turn()
  })
  // Screens ask every few seconds while there is no stream: their first answer says that waiting is over.
  let wasSilent = false
  effect(() => {
    const isSilent = silentSince.value !== undefined
    if (wasSilent && !isSilent) bells.wake()
    wasSilent = isSilent
  })
}

/** Where a browser has no shared workers. */
function ownBells(): Bells {
  const reader = createStreamReader({
    prefix: PREFIX,
    onTelling: () => {
      isStreaming.value = reader.told().size > 0
    },
    onMessage: take,
  })
  return reader
}

function sharedBells(): Bells {
  const { port } = startSharedWorker(streamWorker)
  const say = (said: FromTab): void => port.postMessage(said)
  let wanted: readonly string[] = []
  port.onmessage = ({ data }: MessageEvent<ToTab>) => {
    if ('message' in data) take(data.message)
    else isStreaming.value = data.isTelling
  }
  window.addEventListener('pagehide', () => say('bye'))
  // Out of the memory of the browser it comes as it was.
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) say({ topics: wanted })
  })
  return {
    want: (topics) => {
      wanted = topics
      if (topics.length === 0) isStreaming.value = false
      say({ topics })
    },
    wake: () => say('wake'),
  }
}

/** Where the name of a message is not that of its topic. */
const TOPICS: Readonly<Record<string, string>> = { subscription: 'subscriptions', job: 'jobs' }

function take({ event, data }: StreamMessage): void {
  if (event === 'hello') {
    if (data['reset'] === true) ringAll()
  } else if (event === 'execution') ringTopic(`execution:${String(data['id'])}`)
  else if (event === 'lag') ringAll()
  else ringTopic(TOPICS[event] ?? event)
}
