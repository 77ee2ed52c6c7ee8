// `run`: a playbook from a file or the catalog, started and followed to its end.
import { stat } from 'node:fs/promises'
import { durationMs } from '../../../domain/duration.js'
import { type Labels, readLabelTexts } from '../../../domain/executions/labels.js'
import type { JsonObject } from '../../../domain/json/value.js'
import type { Plan, Problem } from '../../../domain/playbook/plan.js'
import { CpError } from '../../../errors.js'
import type { ApiClient } from '../../apiClient.js'
import type { CommandContext, CommandSpec, Input } from '../../command.js'
import { EXIT } from '../../exit.js'
import { print } from '../../io.js'
import { isSet, listOption, textOption } from '../../options.js'
import { type Block, type Output, toned } from '../../output.js'
import { followRun } from '../../run/followRun.js'
import { payloadOver, readValues } from '../../run/payload.js'
import { type Place, privatePlace, runningPlace } from '../../run/place.js'
import { childrenMap, neededKinds, type PlaybookFile, readPlaybooks, readText } from '../../run/playbookFiles.js'
import { allowedKinds, assertOffered } from '../../run/refusal.js'
import { textWidth } from '../../textWidth.js'

const SECOND_MS = 1_000

const RUNTIMES = ['local', 'distributed', 'auto']

const options: CommandSpec['options'] = [
  {
    flags: '--set <key=value>',
    help: 'a value of the workload; dots in the key go deeper, := forces text',
    isRepeatable: true,
  },
  { flags: '--payload <json>', help: 'values over the workload of the playbook, or @file; alias --workload' },
  { flags: '--workload <json>', help: 'the same as --payload' },
  {
    flags: '-i, --input <file>',
    help: 'values from a YAML or JSON file, under --payload and --set',
    completes: 'file',
  },
  {
    flags: '--allow <kinds>',
    help: 'let python, shell or container steps run here, separated by commas',
    completes: ['python', 'shell', 'container'],
  },
  { flags: '--local', help: 'in a private instance, even if one is running' },
  {
    flags: '-r, --runtime <where>',
    help: 'as NoETL says it: local is --local, distributed needs a running instance, auto takes what there is',
    completes: RUNTIMES,
  },
  { flags: '--pool <name>', help: 'the worker pool that runs its commands', completes: 'pool' },
  { flags: '--label <key=value>', help: 'a label to find the execution by', isRepeatable: true },
  { flags: '--timeout <time>', help: 'cancel it after a while: 30s, 5m, or seconds; exit code 124' },
  { flags: '--detach', help: 'start it and print its id; needs a running instance' },
  { flags: '--result', help: 'print what it gives as JSON on standard output' },
  { flags: '--dry-run', help: 'check the playbook and name what is wrong with it; nothing is started' },
]

const description =
  'Checks a playbook, registers it (with the playbooks that it starts by a relative path), starts it and shows each step as it happens. Without a running instance a private one is started in the data folder and stopped at the end. Progress goes to standard error; --result prints the outcome on standard output, --json every event and a summary as the last line.\n\nExit codes: 0 completed, 1 failed or cancelled, 2 the playbook is wrong or needs a kind that is not allowed, 3 no such file or catalog path, 69 the instance cannot be reached, 124 out of time, 130 interrupted. Ctrl-C cancels the execution, a second one leaves at once.'

export const run: CommandSpec = {
  path: ['run'],
  summary: 'Run a playbook and watch it',
  description,
  args: [{ name: 'playbook', help: 'file, catalog path, path@version, or catalog id' }],
  options,
  examples: [
    ['run examples/hello.yaml', 'a file; nothing else needs to run'],
    ['run examples/hello.yaml --set who=you --result', 'with a value, its result on standard output'],
    ['run report.yaml --allow python,shell', 'steps may run code on this machine'],
    ['run demo/hello --detach', 'from the catalog of a running instance'],
  ],
  run: runPlaybook,
}

export const exec: CommandSpec = {
  ...run,
  path: ['exec'],
  summary: 'The same as run',
  examples: [['exec examples/hello.yaml', 'as the command line of NoETL calls it']],
}

async function runPlaybook(context: CommandContext, input: Input): Promise<Output | number> {
  const named = input.args['playbook']!
  const timeoutMs = timeoutOf(input)
  const labels = readLabelTexts(listOption(input, 'label'), '--label')
  const values = await readValues({
    file: textOption(input, 'input'),
    payload: textOption(input, 'payload') ?? textOption(input, 'workload'),
    sets: listOption(input, 'set'),
  })
  const files = (await isFile(named)) ? await readPlaybooks(named) : undefined
  if (files !== undefined) {
    const wrong = files.filter(({ problems }) => problems.some(({ severity }) => severity === 'error'))
    if (isSet(input, 'dry-run') || wrong.length > 0) return verdict(files, wrong.length > 0)
  }
  const payload: Wanted['payload'] = (plan) => payloadOver(values, plan)
  // Values that do not fit a file are refused before a private instance is started for it.
  if (files !== undefined) payload(files[0]?.plan)
  const given = (textOption(input, 'allow') ?? '')
    .split(',')
    .map((kind) => kind.trim())
    .filter((kind) => kind !== '')
  const runtime = runtimeOf(input)
  const running = await runningPlace(context, runtime === 'local')
  if (running === undefined && runtime === 'distributed') {
    throw new CpError('unavailable', '--runtime distributed needs a running instance; start one with "noetl-cp serve"')
  }
  if (running === undefined && isSet(input, 'detach')) {
    throw new CpError('unavailable', '--detach needs a running instance; start one with "noetl-cp serve"')
  }
  // What a file needs is known before a private instance is started for it.
  const allow = running === undefined ? await allowedKinds(context, neededKinds(files ?? []), given) : []
  if (running === undefined && !context.isQuiet && !context.isJson) {
    const why = runtime === 'local' ? '' : 'no instance is running: '
    print(context.io.stderr, `${why}starting a private instance`)
  }
  const place = running ?? (await privatePlace(context, allow))
  try {
    return await runAt(context, input, place, { named, files, payload, labels, timeoutMs, allow })
  } finally {
    await place.close()
  }
}

function runtimeOf(input: Input): string {
  if (isSet(input, 'local')) return 'local'
  const runtime = textOption(input, 'runtime') ?? 'auto'
  if (RUNTIMES.includes(runtime)) return runtime
  throw new CpError('invalid_input', `--runtime is ${RUNTIMES.join(', ')}, not ${JSON.stringify(runtime)}`)
}

interface Wanted {
  named: string
  files: readonly PlaybookFile[] | undefined
  payload: (plan: Plan | undefined) => JsonObject | undefined
  labels: Labels | undefined
  timeoutMs: number | undefined
  allow: readonly string[]
}

async function runAt(context: CommandContext, input: Input, place: Place, wanted: Wanted): Promise<Output | number> {
  const { api } = place
  const { files } = wanted
  const found = files === undefined ? await catalogEntry(api, wanted.named) : undefined
  const playbooks = files ?? [{ file: wanted.named, ...readText(found?.content ?? '', undefined) }]
  if (files === undefined && isSet(input, 'dry-run')) {
    return verdict(
      playbooks,
      playbooks.some(({ problems }) => problems.some(({ severity }) => severity === 'error')),
    )
  }
  const needs = neededKinds(playbooks)
  if (place.isPrivate) await allowedKinds({ ...context, isJson: true }, needs, wanted.allow)
  else await assertOffered(api, needs)
  const children = childrenMap(files ?? [])
  const payload = wanted.payload(playbooks[0]?.plan)
  // The last thing before the start: nothing is registered of what cannot run.
  const entry = found ?? (await register(api, files ?? []))
  const pool = textOption(input, 'pool')
  const detached = isSet(input, 'detach')
  const started = await start(api, {
    catalog_id: entry.catalogId,
    ...(payload === undefined ? {} : { payload }),
    ...(children === undefined ? {} : { children_map: children }),
    ...(pool === undefined ? {} : { execution_pool: pool }),
    ...(wanted.labels === undefined ? {} : { labels: wanted.labels }),
    ...(detached && wanted.timeoutMs !== undefined ? { timeout_seconds: wanted.timeoutMs / SECOND_MS } : {}),
  })
  if (detached) {
    return { json: { execution_id: started, status: 'started' }, blocks: [{ kind: 'text', text: started }] }
  }
  if (!context.isJson && !context.isQuiet) {
    print(context.io.stderr, `${entry.path} version ${entry.version}  execution ${started}`)
  }
  const { plan } = playbooks[0]!
  return followRun(context, {
    api,
    executionId: started,
    nameWidth: Math.max(0, ...(plan?.steps ?? []).map(({ name }) => textWidth(name))),
    timeoutMs: wanted.timeoutMs,
    pointerOf: (step) => plan?.steps.find(({ name }) => name === step)?.pointer,
    showsResult: isSet(input, 'result'),
    cancels: true,
    isKept: place.isKept,
    onLook: place.onLook,
  })
}

interface Entry {
  catalogId: string
  path: string
  version: string
  content?: string
}

async function register(api: ApiClient, files: readonly PlaybookFile[]): Promise<Entry> {
  let entry: Entry | undefined
  for (const { text } of files) {
    const done = await api.post('/api/catalog/register', { content: text })
    entry ??= { catalogId: String(done['catalog_id']), path: String(done['path']), version: String(done['version']) }
  }
  return entry!
}

async function catalogEntry(api: ApiClient, named: string): Promise<Entry> {
  const at = named.lastIndexOf('@')
  const which: JsonObject = /^\d+$/.test(named)
    ? { catalog_id: named }
    : at > 0
      ? { path: named.slice(0, at), version: named.slice(at + 1) }
      : { path: named }
  try {
    const found = await api.post('/api/catalog/resource', which)
    return {
      catalogId: String(found['catalog_id']),
      path: String(found['path']),
      version: String(found['version']),
      content: String(found['content']),
    }
  } catch (error) {
    if (!(error instanceof CpError) || error.code !== 'not_found') throw error
    throw new CpError('not_found', `there is neither a file nor a catalog entry ${named}; see "noetl-cp catalog list"`)
  }
}

async function start(api: ApiClient, body: JsonObject): Promise<string> {
  try {
    return String((await api.post('/api/execute', body))['execution_id'])
  } catch (error) {
    // A playbook that cannot run is a mistake in what was given, as it is when the check here finds it.
    if (error instanceof CpError && error.code === 'refused')
      throw new CpError('invalid_input', String(error.details['said'] ?? error.message), { cause: error })
    throw error
  }
}

function verdict(playbooks: readonly Omit<PlaybookFile, 'location'>[], isWrong: boolean): Output {
  const rows = playbooks.flatMap(({ file, problems }) => problems.map((problem) => ({ file, problem })))
  const table: Block = {
    kind: 'table',
    columns: ['file', 'place', '', 'what'],
    isProse: true,
    rows: rows.map(({ file, problem }) => [
      file,
      problem.pointer === '' ? 'the document' : problem.pointer,
      toned(problem.severity, problem.severity === 'error' ? 'bad' : 'warn'),
      problem.message,
    ]),
  }
  const [first] = playbooks
  return {
    json: {
      valid: !isWrong,
      path: first?.path ?? null,
      problems: rows.map(({ file, problem }) => problemJson(file, problem)),
    },
    blocks: [
      ...(rows.length === 0 ? [] : [table]),
      ...(isWrong
        ? []
        : [
            {
              kind: 'text' as const,
              text: `${first?.file} can run: ${first?.path}, ${first?.plan?.steps.length} steps`,
            },
          ]),
    ],
    notes: isWrong ? ['nothing was started'] : [],
    ...(isWrong ? { exitCode: EXIT.usage } : {}),
  }
}

function problemJson(file: string, { pointer, severity, message }: Problem): JsonObject {
  return { file, pointer, severity, message }
}

/** What looks like a file is one, also when it is not there. */
async function isFile(named: string): Promise<boolean> {
  if (/\.ya?ml$/i.test(named)) return true
  return stat(named).then(
    (found) => found.isFile(),
    () => false,
  )
}

function timeoutOf(input: Input): number | undefined {
  const text = textOption(input, 'timeout')
  if (text === undefined) return undefined
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * SECOND_MS : durationMs(text)
  if (ms === undefined || ms <= 0)
    throw new CpError(
      'invalid_input',
      `--timeout must be a span of time such as 30s or 5m, not ${JSON.stringify(text)}`,
    )
  return ms
}
