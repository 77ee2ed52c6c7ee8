// How a run ended, for people and for programs.

import colors from 'picocolors'
import { counted } from '../../domain/counted.js'
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import { printable } from '../../runtime/printable.js'
import type { Seen } from '../../services/worker/worker.js'
import type { Ending, Story, Visit } from './story.js'
import { timeText } from './timeText.js'

const STDERR_LINES = 20

export interface ReportOptions {
  color: boolean
  executionId: string
  /** Where a step stands in its document. */
  pointerOf(step: string): string | undefined
  /** What to call to learn more, or why there is no more. */
  next: string
}

export function endLines(story: Story, ending: Ending, options: ReportOptions): string[] {
  const paint = colors.createColors(options.color)
  const tone = ending.status === 'COMPLETED' ? paint.green : ending.status === 'FAILED' ? paint.red : paint.yellow
  const steps = story.visits.filter(({ state }) => state !== 'skipped').length
  const head = `${tone(ending.status)} in ${timeText(ending.durationMs)}, ${counted(steps, 'step')}, ${counted(story.commands, 'command')}`
  if (ending.status === 'COMPLETED') return [head]
  const broken = story.visits.filter(({ state }) => state === 'failed')
  return [
    head,
    ...broken.flatMap((visit) => failureLines(visit, options, paint)),
    ...(broken.length === 0 && ending.error !== undefined ? [`  ${printable(ending.error)}`] : []),
    `next: ${options.next}`,
  ]
}

function failureLines(visit: Visit, options: ReportOptions, paint: ReturnType<typeof colors.createColors>): string[] {
  const pointer = options.pointerOf(visit.step)
  const kind = visit.error?.['kind']
  const place = pointer === undefined ? '' : ` (${pointer})`
  const printed = visit.stderr.trimEnd().split('\n').slice(-STDERR_LINES)
  const hasPrinted = visit.stderr.trim() !== ''
  return [
    `  step ${printable(visit.step)}${printable(place)}: ${printable(String(visit.error?.['message'] ?? 'failed'))}${typeof kind === 'string' ? ` [${printable(kind)}]` : ''}`,
    ...(hasPrinted
      ? ['  last lines of its standard error:', ...printed.map((line) => paint.dim(`    ${printable(line)}`))]
      : []),
  ]
}

/** What a step prints, or that it is tried again. */
export function seenLine(step: string, seen: Seen, color: boolean): string {
  const paint = colors.createColors(color)
  if (seen.kind === 'line')
    return paint.dim(`    ${printable(step)} ${seen.stream === 'stderr' ? '!' : '|'} ${printable(seen.line)}`)
  const { runs, attempts, delayMs, message } = seen
  return paint.yellow(
    `    ${printable(step)}: retry ${runs + 1}/${attempts} after ${printable(message)}, ${timeText(delayMs)}`,
  )
}

export function summaryJson(
  story: Story,
  ending: Ending,
  executionId: string,
  result: JsonValue | undefined,
): JsonObject {
  const steps: JsonObject = {}
  for (const visit of story.visits) {
    const before = steps[visit.step] as JsonObject | undefined
    steps[visit.step] = {
      visits: Number(before?.['visits'] ?? 0) + (visit.state === 'skipped' ? 0 : 1),
      commands: Number(before?.['commands'] ?? 0) + visit.issued,
      status: visit.state,
    }
  }
  return {
    execution_id: executionId,
    status: ending.status,
    duration_ms: ending.durationMs,
    result: result ?? null,
    error: ending.error ?? null,
    error_kind: ending.errorKind ?? null,
    failed_steps: ending.failedSteps,
    steps,
  }
}
