// Going on from an execution that has failed.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { createApiClient } from '../../apiClient.js'
import type { CommandSpec } from '../../command.js'
import { isSet } from '../../options.js'
import { watchToEnd } from './executionWatch.js'

export const executionResume: CommandSpec = {
  path: ['execution', 'resume'],
  changes: true,
  summary: 'Go on from an execution that has failed or was cancelled',
  description:
    'Starts a new execution that takes over what the old one has done and runs again what failed or was under way; a loop over a list goes on at its first item that failed. The old one stays as it is. Prints the new id.',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  options: [
    { flags: '--latest', help: 'by the newest version of the playbook, for instance after a repair' },
    { flags: '--wait', help: 'watch it to its end; the exit code is that of "run"' },
  ],
  examples: [
    ['execution resume 320816801799737344', 'from the step that failed'],
    ['execution resume 320816801799737344 --latest --wait', 'after the playbook was mended, and watch'],
  ],
  run: async (context, input) => {
    const id = parseExecutionId(input.args['id'], 'id')
    const { httpUrl, token } = await context.instance()
    await context.recorded()
    const api = createApiClient(httpUrl, token)
    const answer = await api.post(`/api/executions/${id}/resume`, { latest: isSet(input, 'latest') })
    const executionId = String(answer['execution_id'])
    if (isSet(input, 'wait')) return watchToEnd(context, executionId)
    const again = Array.isArray(answer['steps_again']) ? answer['steps_again'].map(String) : []
    return {
      json: { ...answer, execution_id: executionId, resumed_from: id },
      blocks: [{ kind: 'text', text: executionId }],
      notes: [again.length === 0 ? 'from the start' : `again: ${again.join(', ')}`],
    }
  },
}
