// Loads the log of a run piece by piece, and what is added to it later.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { ApiError, apiPath, get } from '../../lib/api'
import type { WindowEvent } from './EventsTab'
import { type RunRecord, recordOf } from './record'

const PIECE = 1_000
/** Beyond it the page says how much of the log is drawn. */
export const DRAWN_MAX = 20_000

export interface LoadedRecord {
  record: RunRecord
  isLoading: boolean
  error: ApiError | undefined
}

export function useRecord(executionId: string, eventCount: number): LoadedRecord {
  const [events, setEvents] = useState<readonly WindowEvent[]>([])
  const [isLoading, setLoading] = useState(true)
  const [error, setError] = useState<ApiError>()
  useEffect(() => {
    const control = new AbortController()
    const load = async (): Promise<void> => {
      let known = events
      setLoading(true)
      while (known.length < Math.min(eventCount, DRAWN_MAX) && !control.signal.aborted) {
        const path = apiPath(`/api/executions/${executionId}/events`, { from: known.length + 1, limit: PIECE })
        const piece = (await get<{ events: WindowEvent[] }>(path, control.signal)).events
        const last = known.at(-1)
        // An event that arrived late has moved the places: start over.
        const isMoved =
          last !== undefined && piece[0] !== undefined && BigInt(piece[0].event_id) <= BigInt(last.event_id)
        if (piece.length === 0) break
        known = isMoved ? [] : [...known, ...piece]
        if (!isMoved) setEvents(known)
      }
      setLoading(false)
    }
    load().then(
      () => setError(undefined),
      (reason: unknown) => {
        if (control.signal.aborted) return
        setLoading(false)
        setError(reason instanceof ApiError ? reason : new ApiError(String(reason), -1, ''))
      },
    )
    return () => control.abort()
  }, [executionId, eventCount])
  const record = useMemo(() => recordOf(events), [events])
  return { record, isLoading, error }
}
