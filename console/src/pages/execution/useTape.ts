// Loads the tape of a run: of a long one an overview first, of a very long one nothing else. When the log has grown, what is new is
// loaded; all of it when its places have moved. While the daemon still reads a long log, what it has read is shown.
import { useEffect, useRef, useState } from 'preact/hooks'
import { continues, decodeTape, growTape, type Tape } from '../../../../src/domain/tape/decodeTape.js'
import { ApiError, apiPath, fetchOwn } from '../../lib/api'
import { useAskAgain } from '../../lib/useAskAgain'
import { fromCoarse } from './coarse'
import { type RunTape, runTapeOf } from './tape'

/** Beyond it the overview stays, in which parts of the log are counted: a tape of events has about 30 bytes for each. */
export const DRAWN_MAX = 1_000_000
/** The daemon reads a log on as long as somebody waits for it. */
const WAIT_MS = 30_000
/** The first drawing does not wait for more of a long log than is read by then, those after it for more. */
const FIRST_WAIT_MS = 100
const NEXT_WAIT_MS = 400
const FIRST_ROUNDS = 50
const FIRST_PAUSE_MS = 100
const PAUSE_MS = 1_000

export interface LoadedTape {
  run: RunTape | undefined
  /** Of a long log that is still on its way: what was read so far, or what was counted in its parts. */
  overview: RunTape | undefined
  error: ApiError | undefined
  reload(): void
}

export function useTape(executionId: string, eventCount: number): LoadedTape {
  const [run, setRun] = useState<RunTape>()
  const [overview, setOverview] = useState<RunTape>()
  const [error, setError] = useState<ApiError>()
  const [round, setRound] = useState(0)
  const latest = useRef<Tape>()
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
    const path = `/api/executions/${executionId}/tape`
    const askFrom = async (from: number, level: Level = 'full', waitMs = WAIT_MS): Promise<Tape> => {
      const asked = apiPath(path, { level, from, wait_ms: waitMs })
      const { signal } = control
      const answer = await fetchOwn('GET', asked, { signal }, (response) => response.arrayBuffer())
      // What is still to come is on its way.
      setError(undefined)
      return decodeTape(answer)
    }
    const askFirst = async (): Promise<Tape> => {
      let waitMs = FIRST_WAIT_MS
      for (let round = 0; round < FIRST_ROUNDS; round++) {
        const first = await askFrom(1, 'auto', waitMs)
        const { level, built, total } = first.head
        // Before the daemon has begun to read, it does not know how much there is.
        const isWhole = built === total && (built > 0 || newest.current === 0)
        if (isWhole && level === levelOf(total)) return first
        if (built > 0) {
          setOverview(drawn(first))
          waitMs = NEXT_WAIT_MS
        }
        if (isWhole) break
        if (built === 0) await pause(FIRST_PAUSE_MS)
      }
      return askFrom(1, levelOf(newest.current))
    }
    const loadTape = async (known: Tape | undefined): Promise<Tape> => {
      if (known === undefined || known.head.execution_id !== executionId) return askFirst()
      if (levelOf(Math.max(newest.current, known.head.total)) === 'coarse') return askFrom(1, 'coarse')
      const piece = await askFrom(known.head.to + 1)
      return continues(known, piece) ? growTape(known, piece) : askFrom(1)
    }
    let counted = newest.current
    const load = async (): Promise<void> => {
      let loaded: RunTape
      let isPart = false
      do {
        if (isPart) await pause(PAUSE_MS)
        counted = newest.current
        const tape = await loadTape(latest.current)
        latest.current = tape
        loaded = drawn(tape)
        setRun(loaded)
        isPart = loaded.length < loaded.total
      } while (isPart || counted !== newest.current)
    }
    isLoading.current = true
    load()
      .catch((reason: unknown) => {
        if (control.signal.aborted) return
        setError(reason instanceof ApiError ? reason : new ApiError(String(reason), -1, path))
      })
      .finally(() => {
        if (control.signal.aborted) return
        isLoading.current = false
        // It may have grown after the last look at it, while nobody else could begin.
        if (counted !== newest.current) reload()
      })
    return () => {
      isLoading.current = false
      control.abort()
    }
  }, [executionId, round])
  useAskAgain(error, reload)
  return { run, overview, error, reload }
}

type Level = 'auto' | 'full' | 'coarse'

function levelOf(total: number): Level {
  return total > DRAWN_MAX ? 'coarse' : 'full'
}

function drawn(tape: Tape): RunTape {
  return runTapeOf(tape.head.level === 'coarse' ? fromCoarse(tape) : tape)
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
