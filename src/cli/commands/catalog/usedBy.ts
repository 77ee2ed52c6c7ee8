// What would start an entry of the catalog.
import type { JsonObject } from '../../../domain/json/value.js'
import { USERS_MAX, type UsedBy, type User, usedBy } from '../../../services/catalog/usedBy.js'
import type { CommandSpec } from '../../command.js'
import { usedByRemotely } from '../../remote/catalog.js'
import { thereOrHere } from '../../remote.js'

export const catalogUsedBy: CommandSpec = {
  path: ['catalog', 'used-by'],
  summary: 'What would start an entry',
  description: `Playbooks (in their newest version) whose steps start this entry or that hand their failures to it, subscriptions whose messages start it, and its own schedule. Only what documents name plainly is found: not what a template makes, nor the path of a file. At most ${USERS_MAX} documents that mention the path are read.`,
  args: [{ name: 'path', help: 'catalog path', completes: 'path' }],
  examples: [['catalog used-by demo/double-it', 'before it is changed or deleted']],
  run: async (context, input) => {
    const path = input.args['path']!
    const found = await thereOrHere(
      context,
      (remote) => usedByRemotely(remote, path),
      async () => {
        const { databases, documents, clock, config } = await context.deps()
        return usedBy({ databases, documents, clock, onFailure: config.onFailure }, path)
      },
    )
    return {
      json: found as unknown as JsonObject,
      blocks: [
        {
          kind: 'table',
          columns: ['kind', 'path', 'version', 'state', 'where'],
          rows: found.users.map((user) => [user.kind, user.path, user.version, user.state, placesOf(user)]),
          empty: 'no document in force names it',
        },
      ],
      notes: notesOf(found),
    }
  },
}

function placesOf({ places }: User): string {
  return places.map(({ step, pointer }) => (step === null ? pointer : `step ${step}`)).join(', ')
}

function notesOf({ schedule, on_failure_of_all: isFallback, is_complete: isComplete }: UsedBy): string[] {
  return [
    ...(schedule === null
      ? []
      : [
          `its schedule: ${schedule.cron} (${schedule.timezone}), ${schedule.paused ? 'paused' : `next ${schedule.next_at}`}`,
        ]),
    ...(isFallback ? ['NOETL_CP_ON_FAILURE starts it for failed executions whose playbook says nothing else'] : []),
    ...(isComplete ? [] : [`more documents mention it than the ${USERS_MAX} that were read`]),
  ]
}
