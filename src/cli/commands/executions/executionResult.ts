// Prints the result of an execution or of one of its steps.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { writeJsonPretty } from '../../../domain/json/write.js'
import { redact } from '../../../domain/secrets/redact.js'
import { createApiClient } from '../../apiClient.js'
import type { CommandSpec } from '../../command.js'
import { textOption } from '../../options.js'

export const executionResultCommand: CommandSpec = {
  path: ['execution', 'result'],
  summary: 'What an execution, or one of its steps, gave',
  description:
    'Prints the data itself as JSON: of the execution, or with --step of the last finished visit of a step. Values that were too large for an event are fetched. Exit code 4 when the execution has not completed, 3 when the step never finished.',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  options: [{ flags: '--step <name>', help: 'the data of this step' }],
  examples: [
    ['execution result 320816801799737344', 'of the whole run'],
    ['execution result 320816801799737344 --step fetch | jq .rows', 'of a step, for programs'],
  ],
  run: async (context, input) => {
    const id = parseExecutionId(input.args['id'], 'id')
    const step = textOption(input, 'step')
    const { httpUrl, token } = await context.instance()
    const query = step === undefined ? '' : `?step=${encodeURIComponent(step)}`
    const data = await createApiClient(httpUrl, token).get(`/api/executions/${id}/result${query}`)
    const rules = context.secretRules()
    const json = rules === null ? data : redact(data, rules)
    return { json, blocks: [{ kind: 'lines', lines: writeJsonPretty(json).split('\n') }] }
  },
}
