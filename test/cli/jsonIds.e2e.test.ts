// Promise: whatever a command prints with --json, ids of 64 bits are text in it, also small ones: a program that reads numbers
// as JavaScript and jq do would get another id. A command that is not asked here says why.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CommandGroup } from '../../src/cli/commands/index.js'
import { type Daemon, startDaemon } from '../support/binary.js'
import { builtCli } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { type TestStream, useStream } from '../support/stream.js'
import { API_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'

const BUILT_COMMANDS = new URL('../../dist/cli/commands/index.js', import.meta.url).href

/** Not asked, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  exec: 'is run',
  serve: 'goes on until it is stopped; see readyLine',
  worker: 'goes on until it is stopped',
  console: 'prints an address',
  'replay step': 'goes on until it is left',
  'subscription watch': 'goes on until it is left',
  'execution logs': 'prints what tools wrote',
  'events tail': 'prints events as they are on the wire',
  'events export': 'prints events as they are on the wire',
  'execution result': 'prints the data of the playbook',
  replay: 'prints the state document, which its checksum is made of',
  'replay diff': 'shows places of that document',
  'schema remove': 'would take the schema away',
  'credential set': 'names no id',
  'credential list': 'names no id',
  'credential show': 'names no id',
  'credential delete': 'names no id',
  'credential rekey': 'names no id',
  'catalog validate': 'names no id',
  'template eval': 'names no id',
  'config show': 'names no id',
  'config check': 'names no id',
  'config init': 'names no id',
  'config schema': 'names no id',
  env: 'names no id',
  completion: 'prints a script',
  complete: 'prints words',
  version: 'names no id',
}

/** In the order in which they are called. A word with $ is what was found before. */
const CALLS: readonly string[] = [
  'demo --yes',
  'run $file',
  'migrate',
  'status',
  'doctor',
  'activity',
  'execution list',
  'execution show $done',
  'execution start ids/hello',
  'execution watch $done',
  'execution rerun $done',
  'execution resume $failed',
  'execution adopt $open',
  'events append $events',
  'events import $events',
  'replay verify $done',
  'replay parity $done',
  'state show $stuck',
  'state why-stuck $stuck',
  'snapshot take $stuck',
  'snapshot list',
  'snapshot show $stuck',
  'snapshot verify $stuck',
  'snapshot rebuild $stuck',
  'snapshot prune --yes',
  'catalog register $file',
  'catalog list',
  'catalog get ids/hello',
  'catalog used-by ids/hello',
  'catalog delete ids/hello --yes',
  'catalog restore ids/hello',
  'projector quarantine list',
  'projector quarantine retry --all',
  'projector quarantine drop --all --yes',
  'outbox status',
  'outbox drain',
  'outbox list --execution $done',
  'outbox show $row',
  'outbox retry --execution $done',
  'outbox dead list',
  'outbox dead redrive $row',
  'outbox dead drop $other --yes',
  'outbox audit',
  'outbox purge --yes',
  'subscription list',
  'subscription show $subscription',
  'subscription register demo/orders',
  'subscription history $subscription',
  'subscription dead list',
  'subscription activate $subscription',
  'subscription dead redrive --all --subscription $subscription',
  'subscription dead drop --all --yes',
  'subscription pause $subscription',
  'subscription resume $subscription',
  'subscription drain $subscription',
  'subscription deactivate $subscription',
  'subscription rebuild',
  'schedule list',
  'schedule next ids/hello',
  'schedule pause ids/hello',
  'schedule resume ids/hello',
  'command list',
  'command show $command',
  'command requeue $command',
  'worker list --all',
  'worker limits',
  'worker pause shared',
  'worker resume shared',
  'worker limit shared --max 3',
  'bulk rerun $done --yes --reason test',
  'bulk cancel $open --dry-run',
  'bulk resume $failed --dry-run',
  'bulk finalize $stuck --as FAILED --dry-run',
  'bulk list',
  'bulk show $job',
  'bulk stop $job',
  'execution finalize $stuck --status FAILED',
  'execution cancel $open',
  'retention --older-than 90d --dry-run',
  'shard of $done',
  'shard list',
  'id new',
  'id inspect $done',
]

const found: Record<string, string> = {}
const database = useDatabase()
let stream: TestStream
let daemon: Daemon
let folder = ''
let env: Record<string, string> = {}

const HELLO =
  "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {path: ids/hello, schedule: {cron: '0 0 1 1 *'}}\nworkflow:\n  - {step: start, tool: {kind: noop}}\n"

beforeAll(async () => {
  stream = await useStream(database.servers())
  env = {
    NOETL_DATABASE_URL: database.get().url,
    NOETL_API_TOKEN: API_TOKEN,
    NOETL_INTERNAL_API_TOKEN: `${API_TOKEN}-2`,
    ...stream.env,
  }
  daemon = await startDaemon([], { env })
  env['NOETL_PORT'] = new URL(daemon.url).port
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-ids-'))
  found['file'] = join(folder, 'hello.yaml')
  await writeFile(found['file'], HELLO)
})
afterAll(async () => {
  await daemon?.stop('SIGKILL')
  await stream?.close()
  await rm(folder, { recursive: true, force: true })
})

async function printed(call: string): Promise<any> {
  const words = call.split(' ').map((word) => (word.startsWith('$') ? found[word.slice(1)] : word))
  expect(words, `something that ${call} needs was not found`).not.toContain(undefined)
  const { code, stdout, stderr } = await builtCli([...(words as string[]), '--json'], { env })
  expect(stdout, `${call} ended with ${code}: ${stderr}`).not.toBe('')
  // One document, or one line each as things happen.
  const isOne = stdout.startsWith('{\n') || stdout.startsWith('[\n')
  return isOne
    ? JSON.parse(stdout)
    : stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
}

/** Small by nature. */
const NO_IDS = ['machine_id']
/** What others wrote: the message as it is on the wire, the data of playbooks. */
const OF_OTHERS = ['payload', 'workload', 'result', 'context']

/** Where an id stands as a number. */
function numbersAsIds(value: unknown, place = '$', name = ''): string[] {
  const isIdName = /(^|_)ids?$/.test(name) && !NO_IDS.includes(name)
  if (typeof value === 'number')
    return isIdName || (Number.isInteger(value) && !Number.isSafeInteger(value)) ? [place] : []
  if (Array.isArray(value)) return value.flatMap((item, at) => numbersAsIds(item, `${place}[${at}]`, name))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value)
    .filter(([key]) => !OF_OTHERS.includes(key))
    .flatMap(([key, inner]) => numbersAsIds(inner, `${place}.${key}`, key))
}

async function prepare(): Promise<void> {
  const { executions, subscription_id: subscription } = await printed('demo --yes')
  const again = (await printed('demo --yes')).executions
  const idOf = (status: string, of = executions) => of.find((one: any) => one.status === status).execution_id
  const open = idOf('RUNNING', again)
  Object.assign(found, { done: idOf('COMPLETED'), failed: idOf('FAILED'), stuck: idOf('RUNNING'), open, subscription })
  found['events'] = join(folder, 'events.ndjson')
  await writeFile(
    found['events'],
    `${JSON.stringify({ execution_id: found['stuck'], event_type: 'note', payload: {} })}\n`,
  )
  const sql = (text: string, values: string[] = []) => database.get().sql(text, values)
  const rows = await until('rows of the outbox', async () => {
    const published = await sql(`select outbox_id::text as id from noetl.outbox where status = 'PUBLISHED' limit 2`)
    return published.length === 2 && published
  })
  Object.assign(found, { row: rows[0]!['id'], other: rows[1]!['id'] })
  await sql(`update noetl.outbox set status = 'DEAD' where outbox_id in ($1::bigint, $2::bigint)`, [
    found['row']!,
    found['other']!,
  ])
  await sql(
    `insert into noetl.projector_quarantine (event_id, execution_id, envelope, reason, source) values (7, 8, 'x', 'no JSON', 'stream')`,
  )
  await sql(
    `insert into noetl.subscription_dead_letter (subscription_id, identity, body, reason, attempts) values ($1::bigint, 'nats:X:1', '{}', 'no', 5)`,
    [found['subscription']!],
  )
  const { commands } = await printed('command list --status PENDING')
  found['command'] = commands[0].event_id
  found['job'] = (await printed('bulk rerun $done --yes --reason test --detach')).job_id
}

it('every command is asked, or says why not', async () => {
  // Of the build, which is loaded for the calls anyway.
  const built: { COMMAND_GROUPS: readonly CommandGroup[] } = await import(BUILT_COMMANDS)
  const specs = (await Promise.all(built.COMMAND_GROUPS.map(({ load }) => load()))).flat()
  const paths = specs.map(({ path }) => path.join(' ')).sort((a, b) => b.length - a.length)
  const asked = new Set(CALLS.map((call) => paths.find((path) => `${call} `.startsWith(`${path} `))))
  expect(paths.filter((path) => asked.has(path) === path in LEFT_OUT)).toEqual([])
})

it('ids are text', async () => {
  await prepare()
  const wrong: Record<string, string[]> = {}
  const failures: string[] = []
  for (const call of CALLS) {
    try {
      const places = numbersAsIds(await printed(call))
      if (places.length > 0) wrong[call] = places
    } catch (error) {
      failures.push(String(error))
    }
  }
  expect(failures).toEqual([])
  expect(wrong).toEqual({})
}, 300_000)
