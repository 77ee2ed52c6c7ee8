// A replayed state for people: status, steps, loops, commands and times. Long lists are cut, with the number of rows
// left out; --json has everything.
import type { WireTime } from '../../domain/events/wireTime.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { integerOf } from '../../domain/replay/coerce.js'
import type { Span, TimelineReport } from '../../domain/replay/timeline.js'
import { type Block, type Cell, type Tone, type ToneCell, toned } from '../output.js'
import { durationText, progressBar, spanBar } from './bars.js'

const ROWS_MAX = 25
const BAR = 24

export interface ReportInput {
  state: JsonObject
  /** Undefined: whoever folded the state did not tell when what happened. */
  timeline: TimelineReport | undefined
  warnings: readonly JsonObject[]
  /** Lines about how the answer came to be: cutoff, snapshot. */
  origin: readonly (readonly [string, Cell | ToneCell])[]
}

export function replayReport(input: ReportInput): Block[] {
  const { state, timeline } = input
  const blocks: Block[] = [header(input), ...(timeline === undefined ? [] : [steps(timeline)])]
  const loops = entities(state['loops'])
  if (loops.length > 0) blocks.push(loopTable(loops))
  const stages = entities(state['stages'])
  if (stages.length > 0) blocks.push(stageTable(stages))
  const commands = entities(state['commands'])
  if (commands.length > 0) blocks.push(commandTable(commands, timeline))
  const objects = entities(state['business_objects'])
  if (objects.length > 0) blocks.push(objectTable(objects))
  const payloads = state['payload_resolution']
  if (Array.isArray(payloads)) blocks.push(payloadTable(payloads.filter(isJsonObject)))
  if (input.warnings.length > 0) blocks.push(warningTable(input.warnings))
  return blocks
}

function header({ state, timeline, origin }: ReportInput): Block {
  const execution = isJsonObject(state['execution']) ? state['execution'] : {}
  const times: [string, Cell][] =
    timeline === undefined
      ? []
      : [
          ['from', timeline.from],
          ['to', timeline.to],
          ['lasted', wholeOf(timeline) === null ? null : durationText(timeline.from!, timeline.to!)],
        ]
  const references = execution['payload_refs']
  return {
    kind: 'record',
    title: `Execution ${text(state['execution_id'])}`,
    entries: [
      ['status', status(execution['status'])],
      ['step', text(execution['last_node_name'])],
      ['events', text(state['event_count'])],
      ['last event', `${text(state['last_event_id'])} ${text(state['last_event_type'])}`.trim()],
      ...times,
      ['payload references', Array.isArray(references) ? references.length : 0],
      ['fold', text(state['fold_profile']) || (typeof state['checksum'] === 'string' ? 'python' : 'server')],
      ...origin,
      ['checksum', text(isJsonObject(state['checksum']) ? state['checksum']['value'] : state['checksum'])],
    ],
  }
}

function wholeOf(timeline: TimelineReport | undefined): { from: WireTime; to: WireTime } | null {
  const { from = null, to = null } = timeline ?? {}
  return from === null || to === null ? null : { from, to }
}

function steps(timeline: TimelineReport): Block {
  const whole = wholeOf(timeline)
  return {
    kind: 'table',
    title: `Steps${more(timeline.steps.length)}`,
    columns: ['step', 'state', 'events', 'commands', 'progress', 'lasted', 'when'],
    spare: ['progress', 'events', 'commands'],
    rows: timeline.steps
      .slice(0, ROWS_MAX)
      .map((step) => [
        step.name,
        toned(step.state, STATE_TONE[step.state]),
        step.events,
        step.issued === 0
          ? ''
          : `${step.completed}/${step.issued}${step.failed === 0 ? '' : `, ${step.failed} failed`}`,
        step.issued === 0 ? '' : progressBar(step.completed, step.issued, 10),
        durationText(step.from, step.to),
        whole === null ? '' : spanBar(step, whole, BAR),
      ]),
    empty: 'no event names a step',
  }
}

function loopTable(loops: readonly JsonObject[]): Block {
  return {
    kind: 'table',
    title: `Loops${more(loops.length)}`,
    columns: ['loop', 'step', 'done', 'failed', 'total', 'progress', 'completed'],
    rows: loops.slice(0, ROWS_MAX).map((loop) => {
      const [done, total] = [Number(integerOf(loop['done']) ?? 0), Number(integerOf(loop['total']) ?? 0)]
      return [
        text(loop['loop_id']),
        text(loop['step_name']),
        done,
        text(loop['failed']),
        text(loop['total']),
        progressBar(done, total, BAR),
        loop['completed'] === true ? toned('yes', 'good') : 'no',
      ]
    }),
  }
}

function stageTable(stages: readonly JsonObject[]): Block {
  return {
    kind: 'table',
    title: `Stages${more(stages.length)}`,
    columns: ['stage', 'step', 'kind', 'status', 'frames', 'rows', 'failed'],
    rows: stages
      .slice(0, ROWS_MAX)
      .map((stage) => [
        text(stage['stage_id']),
        text(stage['step_name']),
        text(stage['kind']),
        status(stage['status']),
        text(stage['frame_count']),
        text(stage['row_count']),
        text(stage['failed_count']),
      ]),
  }
}

function commandTable(commands: readonly JsonObject[], timeline: TimelineReport | undefined): Block {
  const spans = new Map<string, Span>(timeline?.commands.map((span) => [span.name, span]))
  const whole = wholeOf(timeline)
  const unfinished = commands.filter((command) => command['terminal_event_id'] === null)
  const listed = [...unfinished, ...commands.filter((command) => !unfinished.includes(command))].slice(0, ROWS_MAX)
  const counts = countBy(commands.map((command) => text(command['status'])))
  return {
    kind: 'table',
    title: `Commands${more(commands.length)}: ${counts}`,
    columns: ['command', 'status', 'worker', 'stage', 'frame', 'lasted', 'when'],
    spare: ['when', 'frame', 'stage', 'worker'],
    rows: listed.map((command) => {
      const span = spans.get(text(command['command_id']))
      return [
        text(command['command_id']),
        status(command['status']),
        text(command['worker_id']),
        text(command['stage_id']),
        text(command['frame_id']),
        span === undefined ? '' : durationText(span.from, span.to),
        span === undefined || whole === null ? '' : spanBar(span, whole, BAR),
      ]
    }),
  }
}

function objectTable(objects: readonly JsonObject[]): Block {
  return {
    kind: 'table',
    title: `Business objects${more(objects.length)}`,
    columns: ['object', 'status', 'version', 'events', 'last event'],
    rows: objects
      .slice(0, ROWS_MAX)
      .map((object) => [
        text(object['object_key']),
        status(object['status']),
        text(object['version']),
        text(object['event_count']),
        text(object['last_event_type']),
      ]),
  }
}

function payloadTable(payloads: readonly JsonObject[]): Block {
  const resolutions = payloads.map((payload) => (isJsonObject(payload['resolution']) ? payload['resolution'] : {}))
  const read = resolutions.filter((resolution) => resolution['resolved'] === true).length
  return {
    kind: 'table',
    title: `Payloads${more(payloads.length)}: ${read} read, ${payloads.length - read} not`,
    columns: ['event', 'of', 'payload', 'bytes', 'rows', 'checksum, or why not'],
    isProse: true,
    rows: resolutions
      .slice(0, ROWS_MAX)
      .map((resolution, index) => [
        text(payloads[index]!['event_id']),
        text(payloads[index]!['scope']).replaceAll('_', ' '),
        text(resolution['ref']),
        text(resolution['size_bytes']),
        text(resolution['row_count']),
        resolution['resolved'] === true ? text(resolution['checksum']) : toned(text(resolution['error']), 'bad'),
      ]),
    empty: 'no event refers to a payload',
  }
}

export function warningTable(warnings: readonly JsonObject[]): Block {
  return {
    kind: 'table',
    title: `Remarks${more(warnings.length)}`,
    columns: ['what', 'where', 'times', 'first events'],
    isProse: true,
    rows: warnings
      .slice(0, ROWS_MAX)
      .map((warning) => [
        toned(text(warning['kind']).replaceAll('_', ' '), 'warn'),
        text(warning['field']),
        text(warning['count']),
        Array.isArray(warning['first_event_ids']) ? warning['first_event_ids'].map(text).join(', ') : '',
      ]),
  }
}

const STATE_TONE: Readonly<Record<Span['state'], Tone>> = {
  running: 'warn',
  done: 'good',
  failed: 'bad',
  cancelled: 'dim',
  seen: 'dim',
}

export function status(value: JsonValue | undefined): ToneCell {
  const name = text(value)
  if (name === 'COMPLETED' || name === 'CLOSED' || name === 'ACTIVE') return toned(name, 'good')
  if (name === 'FAILED') return toned(name, 'bad')
  return toned(name, name === 'RUNNING' || name === 'OPEN' || name === 'CLAIMED' ? 'warn' : 'dim')
}

export function text(value: JsonValue | undefined): string {
  return value === null || value === undefined ? '' : String(value)
}

function entities(map: JsonValue | undefined): JsonObject[] {
  return isJsonObject(map) ? Object.values(map).filter(isJsonObject) : []
}

function more(count: number): string {
  return count > ROWS_MAX ? ` (${ROWS_MAX} of ${count})` : ''
}

function countBy(names: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Array.from(counts, ([name, count]) => `${count} ${name}`).join(', ')
}
