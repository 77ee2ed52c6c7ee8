// Loads the tape of a run, again when the log has grown or its places have moved. While the daemon still reads a long log,
// what it has read is shown.
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, apiPath, fetchOwn } from '../../lib/api'
import { type RunTape, runTapeOf } from './tape'

/** Beyond it the page says how much of the log is drawn: a tape has about 30 bytes per event. */
export const DRAWN_MAX = 1_000_000
/** The daemon reads a log on as long as somebody waits for it. */
const WAIT_MS = 30_000
const PAUSE_MS = 1_000

export interface LoadedTape {
  run: RunTape | undefined
  error: ApiError | undefined
  reload(): void
}

export function useTape(executionId: string, eventCount: number): LoadedTape {
  const [run, setRun] = useState<RunTape>()
  const [error, setError] = useState<ApiError>()
  const [round, setRound] = useState(0)
  const isLoading = useRef(false)
  const newest = useRef(eventCount)
  const reload = (): void => {
    if (!isLoading.current) setRound((before) => before + 1)
  }
  // A tape that is on its way is not given up for every event that is added: it would never arrive.
  useEffect(() => {
    if (newest.current !== eventCount) reload()
    newest.current = eventCount
  }, [eventCount])
  useEffect(() => {
    const control = new AbortController()
    const path = apiPath(`/api/executions/${executionId}/tape`, { level: 'full', to: DRAWN_MAX, wait_ms: WAIT_MS })
    const load = async (): Promise<void> => {
      let loaded: RunTape
      let counted: number
      let isPart = false
      do {
        if (isPart) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
        counted = newest.current
        const response = await fetchOwn('GET', path, { signal: control.signal })
        loaded = runTapeOf(await response.arrayBuffer())
        setRun(loaded)
        isPart = loaded.length < Math.min(loaded.total, DRAWN_MAX)
      } while (isPart || counted !== newest.current)
    }
    isLoading.current = true
    load()
      .then(
        () => setError(undefined),
        (reason: unknown) => {
          if (control.signal.aborted) return
          setError(reason instanceof ApiError ? reason : new ApiError(String(reason), -1, path))
        },
      )
      .finally(() => {
        if (!control.signal.aborted) isLoading.current = false
      })
    return () => {
      isLoading.current = false
      control.abort()
    }
  }, [executionId, round])
  return { run, error, reload }
}
