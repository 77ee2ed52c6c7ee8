// One question of a screen, asked when its key changes and again when something happened. What was shown stays on the
// screen while it is asked again, and says when it grows old; the newest question wins.
import { useSignal } from '@preact/signals'
import { useCallback, useEffect, useRef } from 'preact/hooks'
import { ApiError, noAnswer } from './api'
import { live, useTick } from './live'
import { isBelow, type Role, session } from './session'
import { useAskAgain } from './useAskAgain'

export interface Resource<T> {
  data: T | undefined
  error: ApiError | undefined
  isLoading: boolean
  /** When the data came. */
  at: number | undefined
  reload(): void
}

export interface ResourceOptions {
  /** Asked again so often while the page is live and seen. */
  everyMs?: number
  /** Doorbells that ask at once. */
  topics?: readonly string[]
  /** Of what the answer is about: asked again when it is another. Left out, it does not matter. */
  version?: number | string
}

interface State<T> {
  key: string
  data: T | undefined
  error: ApiError | undefined
  isLoading: boolean
  at: number | undefined
}

const NOTHING = { data: undefined, error: undefined, at: undefined }

/** What is asked again and again is answered within moments; without an answer by then the way to the daemon is cut. */
const PATIENCE_MS = 60_000

/** Null as a key: there is nothing to ask, and nothing to show. */
export function useResource<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<T>,
  options: ResourceOptions = {},
): Resource<T> {
  const state = useSignal<State<T>>({ key: '', data: undefined, error: undefined, isLoading: true, at: undefined })
  const running = useRef<AbortController | undefined>(undefined)
  const newest = useRef(load)
  newest.current = load
  const isRepeated = options.everyMs !== undefined

  const reload = useCallback(() => {
    if (key === null) return
    running.current?.abort()
    const control = new AbortController()
    running.current = control
    const before = state.peek()
    const kept = before.key === key ? before : { data: undefined, at: undefined, error: undefined }
    state.value = { ...kept, key, isLoading: true }
    const patience = isRepeated ? setTimeout(() => control.abort(noAnswer(key)), PATIENCE_MS) : undefined
    newest
      .current(control.signal)
      .then(
        (data) => {
          if (running.current === control)
            state.value = { key, data, error: undefined, isLoading: false, at: Date.now() }
        },
        (error: unknown) => {
          if (running.current !== control) return
          const shown = error instanceof ApiError ? error : new ApiError(String(error), -1, key)
          state.value = { ...state.peek(), error: shown, isLoading: false }
        },
      )
      .finally(() => clearTimeout(patience))
  }, [key])

  useEffect(() => {
    reload()
    return () => {
      running.current?.abort()
      running.current = undefined
    }
  }, [reload])

  const tick = useTick(options.everyMs, options.topics)
  // What rang while it was asked is not in that answer: it is asked once more.
  const isMissed = useRef(false)
  const { version } = options
  const seen = useRef({ tick, version })
  useEffect(() => {
    const { version: before } = seen.current
    const isNews = tick !== seen.current.tick || (version !== undefined && version !== before)
    seen.current = { tick, version: version ?? before }
    if (!isNews || !live.peek()) return
    if (state.peek().isLoading && state.peek().key === key) isMissed.current = true
    else reload()
  }, [tick, version])
  // Who goes on looking after a pause is not shown what was before it: the doorbells of the pause were not answered.
  const isLive = live.value
  const wasLive = useRef(isLive)
  useEffect(() => {
    const isBack = isLive && !wasLive.current
    wasLive.current = isLive
    if (isBack && (isRepeated || options.topics !== undefined)) reload()
  }, [isLive])
  useRole((role, before) => {
    const { isLoading, error } = state.peek()
    const isRefused = error?.status === 401 || error?.status === 403
    // Asked before anybody knew who was asking.
    if (before === undefined && !isLoading && !isRefused) return
    // What somebody else might see is not left on the screen.
    if (before !== undefined && isBelow(role, before)) {
      state.value = { ...state.peek(), data: undefined, error: undefined, at: undefined }
    }
    reload()
  })
  const { isLoading } = state.value
  useEffect(() => {
    if (isLoading || !isMissed.current) return
    isMissed.current = false
    reload()
  }, [isLoading])

  const shown = state.value
  const { data, error, at } = shown.key === key ? shown : NOTHING
  useAskAgain(error, reload)
  return { data, error, isLoading: shown.key !== key || shown.isLoading, at, reload }
}

/** Whoever logs in or out is another reader: `act` hears of it. */
function useRole(act: (role: Role, before: Role | undefined) => void): void {
  const role = session.value?.role
  const seen = useRef(role)
  useEffect(() => {
    const before = seen.current
    seen.current = role
    if (role !== undefined && role !== before) act(role, before)
  }, [role])
}
