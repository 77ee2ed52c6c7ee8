// Holds every account of an execution against the others: fold rules of each generation, read model, snapshots.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { parseJson } from '../../../domain/json/parse.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { type ParityComparison, parityExecution } from '../../../services/replay/replay.js'
import type { CommandSpec } from '../../command.js'
import { EXIT } from '../../exit.js'
import { type Block, toned } from '../../output.js'
import { shortValue } from '../../replay/changes.js'
import { requestOf } from '../../replay/options.js'
import { watching } from '../../replay/watching.js'

export const replayParity: CommandSpec = {
  path: ['replay', 'parity'],
  doing: 'comparing',
  localBecause: 'it compares the log with snapshots and read model',
  summary: 'Compare what each generation, the read model and the snapshots say',
  description:
    'Folds the events of an execution with the rules of each profile and lists every place where python, server, the read model or a stored snapshot says something else than cp. Null, empty and absent are the same here. Some differences are there by design: docs/replay.md names them. Exit code 5 when anything differs.',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  options: [
    { flags: '--tenant <id>', help: 'tenant; usually that of the execution' },
    { flags: '--organization <id>', help: 'organisation; usually that of the execution' },
  ],
  examples: [['replay parity 320816801799737344', 'who says something else?']],
  run: async (context, input) => {
    const id = parseExecutionId(input.args['id']!, 'id')
    const { deps, request } = await requestOf(context, input, id)
    const output = await watching(context, (progress) => parityExecution(deps, request.query, { progress }))
    const comparisons = output.comparisons.map((one) => ({
      ...one,
      differences: parseJson(one.differences) as JsonObject[],
    }))
    const count = comparisons.reduce((sum, one) => sum + one.count, 0)
    return {
      json: {
        execution_id: id,
        event_count: output.eventCount,
        equal: count === 0,
        comparisons: comparisons.map(({ from, to, count: found, differences, skipped }) => {
          return { from, to, count: found, skipped, differences }
        }),
      },
      blocks: [overview(output.comparisons), ...comparisons.filter((one) => one.count > 0).map(details)],
      notes: [count === 0 ? 'everything agrees' : `${count} difference(s)`],
      exitCode: count === 0 ? EXIT.ok : EXIT.difference,
    }
  },
}

function overview(comparisons: readonly ParityComparison[]): Block {
  return {
    kind: 'table',
    title: 'Comparisons',
    columns: ['from', 'to', 'result'],
    isProse: true,
    rows: comparisons.map(({ from, to, count, skipped }) => [
      from,
      to,
      skipped !== null
        ? toned(`nothing to compare: ${skipped}`, 'dim')
        : count === 0
          ? toned('equal', 'good')
          : toned(`${count} difference(s)`, 'bad'),
    ]),
  }
}

const ROWS_MAX = 25

function details({
  from,
  to,
  count,
  differences,
}: {
  from: string
  to: string
  count: number
  differences: JsonObject[]
}): Block {
  const shown = differences.slice(0, ROWS_MAX)
  return {
    kind: 'table',
    title: `${from} → ${to}${count > shown.length ? ` (${shown.length} of ${count})` : ''}`,
    columns: ['place', from, to],
    isProse: true,
    rows: shown.map((difference) => [
      String(difference['pointer']),
      shortValue(difference['from']),
      shortValue(difference['to']),
    ]),
  }
}
