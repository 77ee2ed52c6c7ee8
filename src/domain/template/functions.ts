// The functions a template may call. token() belongs to the worker, which alone knows secrets: elsewhere it is known by
// name, and calling it is an error.

import { formatTime, isoTime } from './formatTime.js'
import { checkList, RANGE_MAX } from './limits.js'
import { printValue } from './printValue.js'
import type { Run, TemplateValue } from './run.js'
import { fault } from './templateError.js'

export interface TemplateFunction {
  readonly params: readonly string[]
  readonly required: number
  call(args: readonly TemplateValue[], run: Run): TemplateValue
}

export const FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map([
  ['range', { params: ['start', 'stop', 'step'], required: 1, call: range }],
  ['now', { params: ['format'], required: 0, call: now }],
  ['token', { params: ['name'], required: 1, call: token }],
])

function range(args: readonly TemplateValue[], run: Run): TemplateValue {
  const [first, second, third] = args.map(wholeNumber)
  const start = args.length > 1 ? (first as number) : 0
  const stop = args.length > 1 ? (second as number) : (first as number)
  const step = third ?? 1
  if (step === 0) return fault('the step of range is 0')
  const length = Math.max(0, Math.ceil((stop - start) / step))
  if (length > RANGE_MAX) fault(`range gives more than ${RANGE_MAX} numbers`)
  checkList(length)
  run.charge(length)
  return Array.from({ length }, (_, index) => start + index * step)
}

function wholeNumber(value: TemplateValue): number {
  if (typeof value === 'number' && Number.isInteger(value)) return value
  return fault('range needs whole numbers')
}

function now(args: readonly TemplateValue[], run: Run): TemplateValue {
  const format = args[0]
  if (format === undefined || format === null) return isoTime(run.context.nowMs)
  return formatTime(run.context.nowMs, printValue(format, run))
}

function token(args: readonly TemplateValue[], run: Run): TemplateValue {
  const { context } = run
  if (context.token === undefined) return fault('token() is only known where the tool runs')
  return context.token(printValue(args[0], run))
}
