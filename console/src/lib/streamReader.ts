// Keeps one stream of the daemon open for the topics that are wanted, and comes back when it breaks. Knows no page: it works in a
// worker for all tabs of a browser, or in a page where there are no shared workers.

export interface StreamMessage {
  event: string
  data: Readonly<Record<string, unknown>>
}

export interface StreamReader {
  /** Opens, closes or changes the stream. */
  want(topics: readonly string[]): void
  /** The daemon answers again: whoever waits need not wait any longer. */
  wake(): void
  /** Topics that the open stream tells about. */
  told(): ReadonlySet<string>
}

interface ReaderDeps {
  prefix: string
  /** The stream has begun to tell, or tells no more. */
  onTelling(): void
  onMessage(message: StreamMessage): void
}

const HELLO_MS = 3_000
/** Something comes every 15 seconds, if only a comment. */
const SILENCE_MS = 40_000
const RETRY_MIN_MS = 1_000
const RETRY_MAX_MS = 30_000
/** Browsers of a daemon that is back do not all come at once. */
const RETURN_MS = 1_000
/** Screens that follow each other change their topics one by one. */
const SETTLE_MS = 50
const TOPICS_MAX = 20

export function createStreamReader({ prefix, onTelling, onMessage }: ReaderDeps): StreamReader {
  let wanted: readonly string[] = []
  let asked: ReadonlySet<string> = new Set()
  let isTelling = false
  let lastId: string | undefined
  let running: AbortController | undefined
  let retryMs = RETRY_MIN_MS
  let timer: ReturnType<typeof setTimeout> | undefined

  function tell(now: boolean): void {
    if (isTelling === now) return
    isTelling = now
    onTelling()
  }

  function close(): void {
    clearTimeout(timer)
    running?.abort()
    running = undefined
    tell(false)
  }

  function openIn(ms: number): void {
    clearTimeout(timer)
    timer = setTimeout(open, ms)
  }

  function open(): void {
    close()
    if (wanted.length === 0) return
    const control = new AbortController()
    running = control
    asked = new Set(wanted.slice(0, TOPICS_MAX))
    read(control).then(
      () => again(control),
      () => again(control),
    )
  }

  /** Each on its own time, so that a daemon that is slow is not asked by everybody at once. */
  function again(control: AbortController): void {
    if (running !== control) return
    running = undefined
    tell(false)
    openIn(retryMs * (0.5 + Math.random() / 2))
    retryMs = Math.min(RETRY_MAX_MS, retryMs * 2)
  }

  async function read(control: AbortController): Promise<void> {
    let patience = setTimeout(() => control.abort(), HELLO_MS)
    const wait = (ms: number): void => {
      clearTimeout(patience)
      patience = setTimeout(() => control.abort(), ms)
    }
    try {
      const response = await fetch(`${prefix}/api/stream?topics=${encodeURIComponent([...asked].join(','))}`, {
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
        const messages = (rest + value).split('\n\n')
        rest = messages.pop()!
        for (const message of messages) take(message)
        // Until the greeting has come through, it may be held back on the way.
        if (isTelling) wait(SILENCE_MS)
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
      retryMs = RETRY_MIN_MS
      tell(true)
    }
    onMessage({ event, data: saidBy(field('data')) })
  }

  return {
    want: (topics) => {
      wanted = topics
      if (wanted.length === 0) close()
      // What is told beside the wanted does no harm until the stream is opened anew.
      else if (running === undefined || wanted.slice(0, TOPICS_MAX).some((topic) => !asked.has(topic)))
        openIn(SETTLE_MS)
    },
    wake: () => {
      retryMs = RETRY_MIN_MS
      if (running === undefined && wanted.length > 0) openIn(Math.random() * RETURN_MS)
    },
    told: () => (isTelling ? asked : new Set()),
  }
}

function saidBy(data: string | undefined): Record<string, unknown> {
  try {
    return JSON.parse(data ?? '{}') as Record<string, unknown>
  } catch {
    return {}
  }
}
