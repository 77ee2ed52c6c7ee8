// Pools of workers from the command line: pause, resume, and how many commands may run at a time.
import { CpError } from '../../../errors.js'
import {
  limitCommands,
  pauseWorkerPool,
  poolLimits,
  resumeWorkerPool,
} from '../../../services/commands/commandLimits.js'
import type { CommandSpec } from '../../command.js'
import { integerOption, isSet, textOption } from '../../options.js'

const nameArgument = { name: 'pool', help: 'name of the pool, such as shared' }

export const workerLimits: CommandSpec = {
  path: ['worker', 'limits'],
  localBecause: 'limits lie in the database, and no route gives them out',
  summary: 'Pools that are paused, and how many commands may run at a time',
  examples: [['worker limits', 'all of them']],
  run: async (context) => {
    const { databases } = await context.deps()
    const found = await poolLimits(databases)
    return {
      json: { limits: found.map((row) => ({ ...row })) },
      blocks: [
        {
          kind: 'table',
          columns: ['of', 'name', 'at a time', 'paused since', 'reason'],
          rows: found.map((row) => [row.scope, row.name, row.commands_max, row.paused_at, row.reason]),
          empty: 'nothing is limited and no pool is paused',
        },
      ],
    }
  },
}

export const workerPause: CommandSpec = {
  path: ['worker', 'pause'],
  changes: true,
  localBecause: 'limits lie in the database, and no route changes them',
  summary: 'Hand out no more commands of a pool; what is running goes on',
  args: [nameArgument],
  options: [{ flags: '--reason <text>', help: 'for those who wonder', isWhy: true }],
  examples: [['worker pause shared --reason "database is moved"', 'within a second']],
  run: async (context, input) => {
    const { databases } = await context.deps()
    const pool = input.args['pool']!
    await pauseWorkerPool(databases, pool, textOption(input, 'reason'))
    return { json: { pool, paused: true }, blocks: [{ kind: 'text', text: `pool ${pool} is paused` }] }
  },
}

export const workerResume: CommandSpec = {
  path: ['worker', 'resume'],
  changes: true,
  localBecause: 'limits lie in the database, and no route changes them',
  summary: 'Hand out commands of a pool again',
  args: [nameArgument],
  examples: [['worker resume shared', 'after a pause']],
  run: async (context, input) => {
    const { databases } = await context.deps()
    const pool = input.args['pool']!
    const wasPaused = await resumeWorkerPool(databases, pool)
    const text = wasPaused ? `pool ${pool} goes on` : `pool ${pool} was not paused`
    return { json: { pool, paused: false }, blocks: [{ kind: 'text', text }] }
  },
}

export const workerLimit: CommandSpec = {
  path: ['worker', 'limit'],
  changes: true,
  localBecause: 'limits lie in the database, and no route changes them',
  summary: 'How many commands of a pool, or of playbooks with a path, may run at a time',
  args: [{ name: 'name', help: 'name of a pool, or with --path the path of a playbook', completes: 'pool' }],
  options: [
    { flags: '--path', help: 'the name is the path of a playbook' },
    { flags: '--max <n>', help: 'commands at a time' },
    { flags: '--none', help: 'as many as there are' },
  ],
  examples: [
    ['worker limit shared --max 50', 'of a pool'],
    ['worker limit etl/heavy --path --max 2', 'of a playbook, in whichever pool'],
    ['worker limit shared --none', 'no limit any more'],
  ],
  run: async (context, input) => {
    const { databases } = await context.deps()
    const name = input.args['name']!
    const max = integerOption(input, 'max', { min: 1, max: 1_000_000 })
    if ((max === undefined) !== isSet(input, 'none')) throw new CpError('invalid_input', 'give --max or --none')
    await limitCommands(databases, isSet(input, 'path') ? 'path' : 'pool', name, max)
    const text = max === undefined ? `${name} is not limited` : `at most ${max} commands of ${name} at a time`
    return { json: { name, max: max ?? null }, blocks: [{ kind: 'text', text }] }
  },
}
