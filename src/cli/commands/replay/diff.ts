// What changed between two moments of an execution, between two files, or between the snapshot and the log.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { parseJson } from '../../../domain/json/parse.js'
import type { JsonObject } from '../../../domain/json/value.js'
import { contentDifferences } from '../../../domain/replay/diff.js'
import { CpError } from '../../../errors.js'
import { type DiffSummary, diffExecution } from '../../../services/replay/replay.js'
import { parseDiffRequest } from '../../../services/replay/request.js'
import type { CommandContext, CommandSpec, Input } from '../../command.js'
import { EXIT } from '../../exit.js'
import { textOption } from '../../options.js'
import type { Output } from '../../output.js'
import { given, type RemoteClient, remoteClient } from '../../remote.js'
import { differenceJson, differenceTable, MAY_CHANGE } from '../../replay/changes.js'
import { foldFile } from '../../replay/foldFile.js'
import { CUTOFF_OPTIONS, OWNER_OPTIONS, parametersOf, profileOf, requestOf } from '../../replay/options.js'
import { watching } from '../../replay/watching.js'

export const replayDiff: CommandSpec = {
  path: ['replay', 'diff'],
  summary: 'What changed between two moments, two files, or snapshot and log',
  description:
    'Lists every place that differs with its JSON pointer. A moment is event:<id>, version:<n>, time:<time>, now or snapshot. Two files are each replayed and compared; the cutoffs then count for both. Exit code 5 when anything differs.',
  args: [{ name: 'id', help: 'execution id', completes: 'execution', optional: true }],
  options: [
    { flags: '--from <moment>', help: 'the earlier moment' },
    { flags: '--to <moment>', help: 'the later one; now if it is left out' },
    { flags: '--projection <name>', help: 'compare this part only' },
    { flags: '--file <paths...>', help: 'two files of events instead of the database', completes: 'file' },
    { flags: '--execution <id>', help: 'with --file: which execution, if there are several', completes: 'execution' },
    ...CUTOFF_OPTIONS,
    ...OWNER_OPTIONS,
  ],
  examples: [
    ['replay diff 320816801799737344 --from version:40 --to now', 'what happened since'],
    ['replay diff 320816801799737344 --from snapshot', 'what the log has beyond the snapshot'],
    ['replay diff --file before.ndjson --file after.ndjson', 'two exported logs'],
  ],
  run: async (context, input) => {
    const files = filesOf(input)
    if (files.length > 0) return diffFiles(context, input, files)
    if (input.args['id'] === undefined || textOption(input, 'from') === undefined) {
      throw new CpError('invalid_input', 'name an execution and --from <moment>, or two files with --file')
    }
    const id = parseExecutionId(input.args['id'], 'id')
    const profile = profileOf(context, input)
    const moments = { from: textOption(input, 'from'), to: textOption(input, 'to') }
    // Nonsense is refused before anything is opened.
    parseDiffRequest(profile, { execution_id: id, ...moments })
    const remote = remoteClient(context)
    if (remote !== undefined) return diffRemotely(remote, input, { execution_id: id, ...given(moments) })
    const { deps, parameters } = await requestOf(context, input, id)
    const request = parseDiffRequest(profile, { ...parameters, ...moments })
    const output = await watching(context, (progress) => diffExecution(deps, request, { progress }))
    const differences = parseJson(output.differences) as JsonObject[]
    return diffOutput(
      differences,
      output.count,
      { name: moments.from!, ...output.from },
      { name: moments.to ?? 'now', ...output.to },
    )
  },
}

async function diffRemotely(remote: RemoteClient, input: Input, asked: object): Promise<Output> {
  const query = { ...parametersOf(input), ...asked, ...given({ profile: textOption(input, 'profile') }) }
  const answer = await remote.call('getReplayDiff', { query })
  const sideOf = (side: typeof answer.from): Side => ({
    name: side!.moment!,
    checksum: side!.checksum!,
    eventCount: String(side!.event_count),
    mayChange: side!.may_change!,
  })
  const differences = answer.differences as unknown as JsonObject[]
  return diffOutput(differences, answer.count!, sideOf(answer.from), sideOf(answer.to))
}

function filesOf(input: Input): string[] {
  const value = input.options['file'] as unknown
  return Array.isArray(value) ? value.map(String) : []
}

async function diffFiles(context: CommandContext, input: Input, files: readonly string[]): Promise<Output> {
  if (files.length !== 2) throw new CpError('invalid_input', `two files are compared, not ${files.length}`)
  const sides = []
  for (const path of files) {
    const { result } = (await foldFile(context, input, path)).replayed
    const { state, checksum, eventCount } = result
    sides.push({ name: path, state, checksum, eventCount: String(eventCount), mayChange: false })
  }
  const [from, to] = sides as [(typeof sides)[number], (typeof sides)[number]]
  const differences = contentDifferences(from.state, to.state)
  return diffOutput(differences.map(differenceJson), differences.length, from, to)
}

interface Side extends DiffSummary {
  name: string
}

function diffOutput(differences: readonly JsonObject[], count: number, from: Side, to: Side): Output {
  const title = `${from.name} (${from.eventCount} events) → ${to.name} (${to.eventCount} events)`
  return {
    json: { equal: count === 0, count, from: sideJson(from), to: sideJson(to), differences: [...differences] },
    blocks: [differenceTable(differences, title)],
    notes: [
      count === 0 ? 'no difference' : `${count} difference(s)`,
      ...(count > differences.length ? [`only the first ${differences.length} are shown`] : []),
      ...(from.mayChange || to.mayChange ? [MAY_CHANGE] : []),
    ],
    exitCode: count === 0 ? EXIT.ok : EXIT.difference,
  }
}

function sideJson({ name, checksum, eventCount, mayChange }: Side): JsonObject {
  return { moment: name, checksum, event_count: eventCount, may_change: mayChange }
}
