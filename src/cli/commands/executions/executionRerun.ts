// The same playbook with the same values once more.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { createApiClient } from '../../apiClient.js'
import type { CommandSpec } from '../../command.js'
import { isSet, listOption, textOption } from '../../options.js'
import { readValues } from '../../run/payload.js'
import { watchToEnd } from './executionWatch.js'

export const executionRerun: CommandSpec = {
  path: ['execution', 'rerun'],
  changes: true,
  summary: 'Start the playbook of an execution again',
  description:
    'Starts the same version of the playbook with the same workload as a new execution and prints its id. --set changes values, also deep ones (a.b=1).',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  options: [
    { flags: '--set <key=value>', help: 'another value of the workload', isRepeatable: true },
    { flags: '--reason <text>', help: 'why, for the record of acts', isWhy: true },
    { flags: '--wait', help: 'watch it to its end; the exit code is that of "run"' },
  ],
  examples: [
    ['execution rerun 320816801799737344', 'once more'],
    ['execution rerun 320816801799737344 --set day=2026-11-16 --wait', 'for another day, and watch'],
  ],
  run: async (context, input) => {
    const id = parseExecutionId(input.args['id'], 'id')
    const { httpUrl, token } = await context.instance()
    await context.recorded()
    const api = createApiClient(httpUrl, token)
    const { sets } = await readValues({ file: undefined, payload: undefined, sets: listOption(input, 'set') })
    // Its workload is known there, secrets included.
    const set = Object.fromEntries(sets.map(({ name, value }) => [name, value]))
    const started = await api.post(`/api/executions/${id}/rerun`, { set, reason: textOption(input, 'reason') ?? null })
    const executionId = String(started['execution_id'])
    if (isSet(input, 'wait')) return watchToEnd(context, executionId)
    return { json: { execution_id: executionId, rerun_of: id }, blocks: [{ kind: 'text', text: executionId }] }
  },
}
