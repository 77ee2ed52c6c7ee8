// The exact state at the handle. A drag asks at most twenty times a second and the newest question wins; once the handle
// rests, the checksum, the neighbours and the address follow. The event before is asked for at once only where it is shown.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ApiError } from '../../lib/api'
import { useAskAgain } from '../../lib/useAskAgain'
import { pin, writeDown } from './cursor'
import { type Slice, Slices } from './slices'
import { FAILED_FLAG, hasFlag, type RunTape, seek } from './tape'

const ASK_EVERY_MS = 50
const REST_MS = 250
/** The end of a log that grows is passed by: its checksum is worth its price once it stands still. */
const LIVE_REST_MS = 1_500

export interface Here {
  slices: Slices
  /** Of this position; while it is asked for, what was shown last. */
  slice: Slice | undefined
  isExact: boolean
  /** One event before. */
  before: Slice | undefined
  checksum: string | undefined
  error: ApiError | undefined
  askAgain(): void
}

interface Wanted {
  position: number
  /** What was before is on the screen, too. */
  before: boolean
}

export function useMoment(executionId: string, run: RunTape, { position, before }: Wanted, onMoved: () => void): Here {
  const slices = useMemo(() => new Slices(executionId, run.epoch, onMoved), [executionId, run.epoch])
  const [, redraw] = useState(0)
  const [error, setError] = useState<ApiError>()
  const [round, setRound] = useState(0)
  const askAgain = (): void => setRound((before) => before + 1)
  useAskAgain(error, askAgain)
  const asking = useRef<AbortController>()
  const askedAt = useRef(0)
  const shown = useRef<Slice>()
  const opened = useRef(run)
  if (opened.current.epoch !== run.epoch) opened.current = run

  const follow = (work: (signal: AbortSignal) => Promise<unknown>, control: AbortController): void => {
    work(control.signal).then(
      () => {
        if (control.signal.aborted) return
        setError(undefined)
        redraw((count) => count + 1)
      },
      (reason: unknown) => {
        if (control.signal.aborted) return
        setError(reason instanceof ApiError ? reason : new ApiError(String(reason), -1, ''))
      },
    )
  }

  useEffect(() => {
    const wantsBefore = before && position > 0
    if (slices.peek(position) !== undefined && (!wantsBefore || slices.peek(position - 1) !== undefined)) return
    const timer = setTimeout(
      () => {
        asking.current?.abort()
        const control = new AbortController()
        asking.current = control
        askedAt.current = performance.now()
        follow(async (signal) => {
          await slices.load(position, signal)
          if (wantsBefore && !signal.aborted) follow((same) => slices.load(position - 1, same), control)
        }, control)
      },
      Math.max(0, askedAt.current + ASK_EVERY_MS - performance.now()),
    )
    return () => clearTimeout(timer)
  }, [slices, position, before, round])
  useEffect(() => () => asking.current?.abort(), [slices])

  useEffect(() => {
    const control = new AbortController()
    const isPassedBy = position === run.length && run.length !== opened.current.length
    const timer = setTimeout(
      () => {
        // Together: what one of them was refused for is not forgotten because the other was not.
        follow((signal) => Promise.all([slices.loadChecksum(position, signal), writeDown(slices, signal)]), control)
        const flags = run.tape.columns['flags']!
        const nextFailure = seek(run, position, 1, (index) => hasFlag(flags[index]!, FAILED_FLAG))
        for (const near of new Set([position - 1, position + 1, nextFailure])) {
          if (near === undefined || near < 0 || near > run.length) continue
          // Nobody sees it yet: whoever goes there asks again.
          slices.load(near, control.signal).catch(() => undefined)
        }
      },
      isPassedBy ? LIVE_REST_MS : REST_MS,
    )
    return () => {
      clearTimeout(timer)
      control.abort()
    }
  }, [slices, position, pin.value, round])

  const exact = slices.peek(position)
  if (exact !== undefined) shown.current = exact
  return {
    slices,
    slice: shown.current,
    isExact: exact !== undefined,
    before: position === 0 ? undefined : slices.peek(position - 1),
    checksum: slices.checksum(position),
    error,
    askAgain,
  }
}
