// Follows an execution to its end and shows it. Ctrl-C asks for its cancellation, a second one leaves; a time limit cancels.
import type { JsonValue } from '../../domain/json/value.js'
import { toCpError } from '../../errors.js'
import { systemClock } from '../../runtime/clock.js'
import type { ApiClient } from '../apiClient.js'
import type { CommandContext } from '../command.js'
import { EXIT } from '../exit.js'
import { followEvents } from '../followEvents.js'
import { howToCall } from '../howToCall.js'
import { idsAsText } from '../idsAsText.js'
import { print, printJson, wantsColor } from '../io.js'
import type { Place } from './place.js'
import { endLines, seenLine, summaryJson } from './report.js'
import { createScreen } from './screen.js'
import { Story } from './story.js'

const TIMED_OUT = 124
const INTERRUPTED = 130

/** About 25 days. */
const TIMER_MS_MAX = 2_147_483_647

export interface RunToFollow {
  api: ApiClient
  executionId: string
  nameWidth: number
  timeoutMs: number | undefined
  pointerOf(step: string): string | undefined
  /** Print what came out on standard output. */
  showsResult: boolean
  /** Whether it can be looked at when it has ended. */
  isKept: boolean
  /** Where what steps print can be heard. */
  onLook?: Place['onLook']
  /** Whether Ctrl-C cancels it; otherwise it only ends the watching. */
  cancels: boolean
}

export async function followRun(context: CommandContext, run: RunToFollow): Promise<number> {
  const { io, isJson, isQuiet } = context
  const { api, executionId } = run
  const story = new Story()
  const leaving = new AbortController()
  const color = wantsColor(io.stderr, context.env)
  const screen =
    isJson || isQuiet
      ? undefined
      : createScreen({ stream: io.stderr, color, nameWidth: run.nameWidth, now: systemClock.now })
  let forced: number | undefined
  if (screen !== undefined) run.onLook?.((step, seen) => screen.line(seenLine(step, seen, color)))

  const cancel = (code: number, reason: string): void => {
    forced = code
    api.post(`/api/executions/${executionId}/cancel`, { reason, cascade: true }).catch((error: unknown) => {
      // It has ended by itself meanwhile; anything else leaves it running, and that must be said.
      if (toCpError(error).code === 'refused') return
      screen?.line(`cannot cancel: ${toCpError(error).message}`)
      leaving.abort()
    })
  }
  const onSignal = (): void => {
    if (forced === INTERRUPTED || !run.cancels) {
      forced = INTERRUPTED
      leaving.abort()
      return
    }
    screen?.line('cancelling; press Ctrl-C again to leave at once')
    cancel(INTERRUPTED, 'interrupted at the terminal')
  }
  const timer =
    run.timeoutMs === undefined
      ? undefined
      : // A longer one would be over at once.
        setTimeout(
          () => cancel(TIMED_OUT, 'the time limit of the run has passed'),
          Math.min(run.timeoutMs, TIMER_MS_MAX),
        )
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) io.on(signal, onSignal)
  try {
    await followEvents({ api, executionId, clock: systemClock, signal: leaving.signal }, (event) => {
      const visit = story.tell(event)
      if (isJson) printJson(io.stdout, idsAsText(event))
      else if (visit !== undefined) screen?.show(visit)
    })
  } finally {
    clearTimeout(timer)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) io.off(signal, onSignal)
    screen?.close()
  }
  const { ending } = story
  if (ending === undefined) {
    print(io.stderr, `left; the execution goes on: ${howToCall(context, `execution show ${executionId}`)}`)
    return forced ?? EXIT.failed
  }
  const result = ending.status === 'COMPLETED' && (isJson || run.showsResult) ? await resultOf(run) : undefined
  if (isJson) printJson(io.stdout, summaryJson(story, ending, executionId, result))
  else if (run.showsResult && result !== undefined) printJson(io.stdout, result)
  const next = run.isKept
    ? howToCall(context, `execution show ${executionId}`)
    : 'nothing of this run is kept, because the data folder is in use; take another one with --data-dir, or leave out --local'
  const lines = endLines(story, ending, { color, executionId, pointerOf: run.pointerOf, next })
  for (const line of lines) screen?.line(line)
  if (forced !== undefined && ending.status === 'CANCELLED') {
    if (forced === TIMED_OUT && !isJson)
      print(io.stderr, `out of time: the run was cancelled after ${run.timeoutMs! / 1_000} s`)
    return forced
  }
  return ending.status === 'COMPLETED' ? EXIT.ok : EXIT.failed
}

async function resultOf({ api, executionId }: RunToFollow): Promise<JsonValue> {
  return api.get(`/api/executions/${executionId}/result`)
}
