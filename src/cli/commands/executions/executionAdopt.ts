// Hands an execution that was started without the engine over to it.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { type Adoption, adoptForEngine } from '../../../services/executions/engineAdoption.js'
import type { CommandSpec } from '../../command.js'
import { textOption } from '../../options.js'
import { given, type RemoteClient, thereOrHere } from '../../remote.js'
import { withCore } from '../../writing.js'

export const executionAdopt: CommandSpec = {
  path: ['execution', 'adopt'],
  changes: true,
  summary: 'Let the engine drive an execution that was started without it',
  description:
    'Writes the event by which the engine decides for it from then on; once is enough, again changes nothing. Refused (exit code 4) when it has ended, when steps of it have begun without the engine, and when its playbook is not in the catalog or cannot run.',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  options: [{ flags: '--reason <text>', help: 'kept in the event', isWhy: true }],
  examples: [
    ['execution adopt 320816801799737344', 'what the NoETL server has started and nobody drives'],
    ['execution adopt 320816801799737344 --reason "their server is gone"', 'and say why'],
  ],
  run: async (context, input) => {
    const executionId = parseExecutionId(input.args['id'], 'id')
    const reason = textOption(input, 'reason')
    const adoption = await thereOrHere(
      context,
      (remote) => adoptRemotely(remote, executionId, given({ reason })),
      () => withCore(context, (writing) => adoptForEngine(writing, { executionId, reason })),
    )
    const isNew = adoption.status === 'adopted'
    return {
      json: {
        execution_id: executionId,
        status: adoption.status,
        event_id: isNew ? adoption.eventId : null,
      },
      blocks: [
        {
          kind: 'text',
          text: isNew
            ? `the engine drives execution ${executionId}`
            : `the engine drives execution ${executionId} already`,
        },
      ],
    }
  },
}

async function adoptRemotely(remote: RemoteClient, executionId: string, body: { reason?: string }): Promise<Adoption> {
  const params = { execution_id: executionId }
  const { status, event_id: eventId } = await remote.call('postExecutionsByExecutionIdAdopt', { params, body })
  return status === 'adopted' ? { status, eventId: eventId! } : { status: 'driven' }
}
