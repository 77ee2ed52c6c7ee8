// The way back from `migrate`: a database as the NoETL server knows it.
import { removalSql, removeSchema } from '../../../services/schema/removal.js'
import type { CommandSpec } from '../../command.js'
import { isSet, requireYes } from '../../options.js'

export const schemaRemove: CommandSpec = {
  path: ['schema', 'remove'],
  localBecause: 'it changes the schema, with the rights of its owner',
  summary: 'Give every database back to the NoETL server',
  description:
    'Hands stored results over to noetl.result_store, then drops the tables, functions and indexes that only noetl-cp needs, one transaction per database. Events, executions, commands, the catalog and the outbox stay. Refused while a daemon runs. What goes for good: credentials, schedules, dead letters and quarantined events of noetl-cp, and the state of its subscriptions, which a later migrate reads from the log again.',
  options: [
    { flags: '--show-sql', help: 'print what would be run; changes nothing' },
    { flags: '--discard-results', help: 'do not hand stored results over' },
    { flags: '--yes', help: 'really' },
  ],
  examples: [
    ['schema remove --show-sql', 'what would be run'],
    ['schema remove --yes', 'do it'],
  ],
  run: async (context, input) => {
    if (isSet(input, 'show-sql')) {
      const lines = removalSql().trimEnd().split('\n')
      return { json: { sql: lines.join('\n') }, blocks: [{ kind: 'lines', lines }] }
    }
    requireYes(input, 'this removes everything from the databases that the NoETL server does not know')
    const { databases, keyring } = await context.deps()
    const done = await removeSchema({ databases, keyring }, { discardsResults: isSet(input, 'discard-results') })
    return {
      json: { databases: done.map(({ label, results, removed }) => ({ database: label, results, removed })) },
      blocks: [
        {
          kind: 'table',
          columns: ['database', 'results handed over', 'noetl-cp'],
          isProse: true,
          rows: done.map(({ label, results, removed }) => [label, results, removed ? 'removed' : 'was not there']),
        },
      ],
    }
  },
}
