// Playbooks that start by themselves.
import { wireTimeFromMillis } from '../../../domain/events/wireTime.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { nextTick } from '../../../domain/schedules/schedule.js'
import { allSchedules, findSchedule, pause, resume, type ScheduleRow } from '../../../services/schedules/schedules.js'
import type { CommandSpec } from '../../command.js'
import { integerOption } from '../../options.js'
import { toned } from '../../output.js'

const pathArgument = { name: 'path', help: 'catalog path of the playbook' }
const COUNT_MAX = 100

export const scheduleList: CommandSpec = {
  path: ['schedule', 'list'],
  localBecause: 'schedules lie in the database, and no route gives them out',
  summary: 'Playbooks with a schedule, and when they start next',
  description:
    'A playbook gets its schedule when a version with metadata.schedule {cron, timezone, missed: skip|once|all, overlap: allow|skip} is registered, and loses it with a version without.',
  examples: [['schedule list', 'all of them']],
  run: async (context) => {
    const rows = await allSchedules(await context.deps())
    return {
      json: { schedules: rows.map(rowJson) },
      blocks: [
        {
          kind: 'table',
          columns: ['path', 'cron', 'time zone', 'next', 'state', 'last run', 'trouble'],
          rows: rows.map((row) => [
            row.path,
            row.cron,
            row.timezone,
            row.paused_at === null && row.next_ms !== null ? wireTimeFromMillis(row.next_ms) : null,
            row.paused_at === null ? toned('active', 'good') : toned('paused', 'warn'),
            row.last_execution_id,
            row.last_error,
          ]),
          empty: 'no playbook has a schedule',
        },
      ],
    }
  },
}

export const schedulePause: CommandSpec = {
  path: ['schedule', 'pause'],
  changes: true,
  localBecause: 'schedules lie in the database, and no route changes them',
  summary: 'Start it no more until it is resumed',
  args: [pathArgument],
  examples: [['schedule pause examples/schedule', 'until it is resumed']],
  run: async (context, input) => {
    const path = input.args['path']!
    await pause(await context.deps(), path)
    return { json: { path, state: 'paused' }, blocks: [{ kind: 'text', text: `${path} is paused` }] }
  },
}

export const scheduleResume: CommandSpec = {
  path: ['schedule', 'resume'],
  changes: true,
  localBecause: 'schedules lie in the database, and no route changes them',
  summary: 'Start it again on time; what fell into the pause is not made up for',
  args: [pathArgument],
  examples: [['schedule resume examples/schedule', 'from now on']],
  run: async (context, input) => {
    const row = await resume(await context.deps(), input.args['path']!)
    const next = row.next_ms === null ? 'never' : wireTimeFromMillis(row.next_ms)
    return { json: rowJson(row), blocks: [{ kind: 'text', text: `${row.path} is active; next: ${next}` }] }
  },
}

export const scheduleNext: CommandSpec = {
  path: ['schedule', 'next'],
  localBecause: 'schedules lie in the database, and no route gives them out',
  summary: 'The next moments at which it starts',
  args: [pathArgument],
  options: [{ flags: '--count <n>', help: 'how many', default: '5' }],
  examples: [['schedule next examples/schedule', 'the next five']],
  run: async (context, input) => {
    const row = await findSchedule(await context.deps(), input.args['path']!)
    const count = integerOption(input, 'count', { min: 1, max: COUNT_MAX }) ?? 5
    const times: string[] = []
    for (let at = nextTick(row, row.now_ms); at !== undefined && times.length < count; at = nextTick(row, at)) {
      times.push(wireTimeFromMillis(at))
    }
    return { json: { path: row.path, next: times }, blocks: [{ kind: 'lines', lines: times }] }
  },
}

function rowJson(row: ScheduleRow): JsonObject {
  return {
    path: row.path,
    cron: row.cron,
    timezone: row.timezone,
    missed: row.missed,
    overlap: row.overlap,
    state: row.paused_at === null ? 'active' : 'paused',
    next: row.next_ms === null ? null : wireTimeFromMillis(row.next_ms),
    last_execution_id: row.last_execution_id,
    last_error: row.last_error,
  }
}
