// A visit as one line: what ran, how it is, how long it took, and what came out.
import type colors from 'picocolors'
import { isJsonObject, type JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { printable } from '../../runtime/printable.js'
import { cutText, padEndTo, textWidth } from '../textWidth.js'
import type { Visit } from './story.js'
import { timeText } from './timeText.js'

export interface LineOptions {
  paint: ReturnType<typeof colors.createColors>
  /** Of the step column. */
  nameWidth: number
  width: number
  nowMs: number
}

const KIND_WIDTH = 12
const BAR_WIDTH = 20
const TIME_WIDTH = 8
const PREVIEW_MAX = 200

export function visitLine(visit: Visit, options: LineOptions): string {
  const { paint, nameWidth, width } = options
  const state = stateOf(visit)
  const time = timeText((visit.endedMs ?? Math.max(options.nowMs, visit.startedMs)) - visit.startedMs)
  const name = `${visit.step}${visit.number > 1 ? ` #${visit.number}` : ''}`
  const head = [
    padEndTo(printable(name), nameWidth),
    padEndTo(printable(kindOf(visit)), KIND_WIDTH),
    state.padEnd('skipped'.length),
    visit.state === 'skipped' ? ''.padEnd(TIME_WIDTH) : time.padStart(TIME_WIDTH),
  ]
  const plain = head.join('  ')
  const [first, second, third, fourth] = head as [string, string, string, string]
  const rest = cutText(printable(remark(visit)), width - textWidth(plain) - 4)
  if (visit.state === 'skipped') return paint.dim(`  ${plain}  ${rest}`.trimEnd())
  return `  ${first}  ${paint.dim(second)}  ${toned(visit, third, paint)}  ${fourth}  ${paint.dim(rest)}`.trimEnd()
}

function kindOf({ kind, loop, issued }: Visit): string {
  return loop === undefined ? kind : `${kind} x${loop.total ?? issued}`
}

function stateOf({ state }: Visit): string {
  return state === 'running' ? '…' : state
}

function toned({ state }: Visit, text: string, paint: LineOptions['paint']): string {
  if (state === 'ok') return paint.green(text)
  if (state === 'failed') return paint.red(text)
  return state === 'handled' ? paint.yellow(text) : paint.dim(text)
}

function remark(visit: Visit): string {
  if (visit.state === 'skipped') return visit.reason === 'not_taken' ? 'no arc leads here' : 'its condition is false'
  if (visit.state === 'failed' || visit.state === 'handled') return String(visit.error?.['message'] ?? '')
  const loop = loopRemark(visit)
  if (loop !== undefined) return visit.note === undefined ? loop : `${loop}  ${visit.note}`
  if (visit.state === 'running') return visit.note ?? ''
  const data = preview(visit.data)
  return visit.note === undefined ? data : `${visit.note}  ${data}`
}

/** Of a command of the shell, what it printed is what a person wants to see. */
function preview(data: Visit['data']): string {
  if (data === undefined || data === null) return ''
  const printed = isJsonObject(data) && data['exit_code'] !== undefined ? data['stdout'] : undefined
  if (typeof printed === 'string') return printed.trim().split('\n').at(-1) ?? ''
  return writeJson(withoutReport(data)).slice(0, PREVIEW_MAX)
}

/** What a pipeline tells the engine to set is no part of its data. */
function withoutReport(data: JsonValue): JsonValue {
  if (!isJsonObject(data) || !Object.hasOwn(data, '_context_updates')) return data
  const { _context_updates: _report, ...rest } = data
  return rest
}

function loopRemark({ loop, state, done, failed, issued }: Visit): string | undefined {
  if (loop === undefined) return undefined
  const ended = done + failed
  const broken = failed === 0 ? '' : `, ${failed} failed`
  if (state === 'running') {
    if (loop.total === undefined) return `${ended} of ${issued} so far${broken}`
    const filled = loop.total === 0 ? BAR_WIDTH : Math.floor((ended / loop.total) * BAR_WIDTH)
    return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${ended}/${loop.total}${broken}`
  }
  const limit = loop.maxInFlight === undefined || loop.mode === 'sequential' ? '' : ` (max ${loop.maxInFlight} at once)`
  return `${done} done${broken}${limit}`
}
