// One stream of doorbells from the daemon while the page is seen: it says what has changed, and whoever shows it asks again.
// Without it, or behind a proxy that holds it back, screens ask by themselves as often as they did before.
import { effect } from '@preact/signals'
import { silentSince } from './api'
import { live, ringAll, ringTopic, wantedTopics } from './live'
import { isStreaming } from './streaming'

const HELLO_MS = 3_000
/** Something comes every 15 seconds, if only a comment. */
const SILENCE_MS = 40_000
const RETRY_MIN_MS = 1_000
const RETRY_MAX_MS = 30_000
/** Tabs of a daemon that is back do not all come at once. */
const RETURN_MS = 1_000
const HIDDEN_MS = 30_000
const TOPICS_MAX = 20

let lastId: string | undefined
let running: AbortController | undefined
let retryMs = RETRY_MIN_MS
let retryTimer: ReturnType<typeof setTimeout> | undefined
let hiddenTimer: ReturnType<typeof setTimeout> | undefined

export function followStream(): void {
  effect(() => {
    const topics = live.value ? wantedTopics.value : ''
    close()
    // Screens that follow each other change their topics one by one.
    if (topics !== '') retryTimer = setTimeout(open, 50)
  })
  // Screens ask every few seconds while there is no stream: their first answer says that waiting is over.
  let wasSilent = false
  effect(() => {
    const isSilent = silentSince.value !== undefined
    const isBack = wasSilent && !isSilent
    wasSilent = isSilent
    if (!isBack) return
    retryMs = RETRY_MIN_MS
    if (running !== undefined || !live.peek() || wantedTopics.peek() === '') return
    clearTimeout(retryTimer)
    retryTimer = setTimeout(open, Math.random() * RETURN_MS)
  })
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiddenTimer)
    if (document.hidden) hiddenTimer = setTimeout(close, HIDDEN_MS)
    else if (running === undefined && live.peek() && wantedTopics.peek() !== '') open()
  })
}

function close(): void {
  clearTimeout(retryTimer)
  running?.abort()
  running = undefined
  isStreaming.value = false
}

function open(): void {
  close()
  const control = new AbortController()
  running = control
  read(control).then(
    () => again(control),
    () => again(control),
  )
}

/** Each on its own time, so that a daemon that comes back is not asked by everybody at once. */
function again(control: AbortController): void {
  if (running !== control) return
  isStreaming.value = false
  running = undefined
  const jittered = retryMs * (0.5 + Math.random() / 2)
  retryMs = Math.min(RETRY_MAX_MS, retryMs * 2)
  if (!document.hidden) retryTimer = setTimeout(open, jittered)
}

async function read(control: AbortController): Promise<void> {
  const topics = wantedTopics.peek().split(' ').slice(0, TOPICS_MAX).join(',')
  let patience = setTimeout(() => control.abort(), HELLO_MS)
  const wait = (ms: number): void => {
    clearTimeout(patience)
    patience = setTimeout(() => control.abort(), ms)
  }
  try {
    const response = await fetch(`/api/stream?topics=${encodeURIComponent(topics)}`, {
      headers: { accept: 'text/event-stream', ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
      credentials: 'same-origin',
      signal: control.signal,
    })
    if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`)
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      // Until the greeting has come through, it may be held back on the way.
      if (isStreaming.peek()) wait(SILENCE_MS)
      const messages = (rest + value).split('\n\n')
      rest = messages.pop()!
      for (const message of messages) {
        take(message)
        if (isStreaming.peek()) wait(SILENCE_MS)
      }
    }
  } finally {
    clearTimeout(patience)
  }
}

function take(message: string): void {
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(message)?.[1]
  const event = field('event')
  if (event === undefined) return
  lastId = field('id') ?? lastId
  if (event === 'hello') {
    isStreaming.value = true
    retryMs = RETRY_MIN_MS
    if (saidBy(field('data'))['reset'] === true) ringAll()
    return
  }
  if (event === 'execution') ringTopic(`execution:${String(saidBy(field('data'))['id'])}`)
  else if (event === 'lag') ringAll()
  else ringTopic(TOPICS[event] ?? event)
}

/** Where the name of a message is not that of its topic. */
const TOPICS: Readonly<Record<string, string>> = { subscription: 'subscriptions', job: 'jobs' }

function saidBy(data: string | undefined): Record<string, unknown> {
  try {
    return JSON.parse(data ?? '{}') as Record<string, unknown>
  } catch {
    return {}
  }
}
