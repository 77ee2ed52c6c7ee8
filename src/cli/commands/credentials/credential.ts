// Credentials of tools from the command line. Values are read from a file or standard input, never from arguments, which
// everybody on the machine can see.

import { credentialsDeps } from '../../../daemon/credentials.js'
import { parseJsonStrict } from '../../../domain/json/parse.js'
import { isJsonObject, type JsonObject } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import {
  type Credential,
  everyCredential,
  openCredential,
  rekeyCredentials,
  removeCredential,
  showCredential,
  shownCredential,
  storeCredential,
} from '../../../services/credentials/credentials.js'
import type { CommandSpec } from '../../command.js'
import { isSet, requireYes, textOption } from '../../options.js'
import { given, type RemoteClient, thereOrHere } from '../../remote.js'
import { readSource } from '../../source.js'
import { withCore } from '../../writing.js'

const DEPTH_MAX = 20
const DATA_BYTES_MAX = 1024 * 1024
const nameArgument = { name: 'name', help: 'name of the credential', completes: 'credential' } as const

export const credentialSet: CommandSpec = {
  path: ['credential', 'set'],
  changes: true,
  summary: 'Store a credential, or replace it',
  description:
    'Reads a JSON map of its values, such as {"db_host": "db", "db_user": "etl", "db_password": "..."}, from a file or standard input and stores it sealed. From the first stored credential on, writes to the API need a token.',
  args: [nameArgument],
  options: [
    { flags: '--type <type>', help: 'postgres, bearer, api_key, basic, nats, or any other' },
    { flags: '--data <file>', help: 'file with the values; - is standard input', completes: 'file', default: '-' },
    { flags: '--description <text>', help: 'a sentence for people' },
    { flags: '--tags <a,b>', help: 'words to find it by' },
  ],
  examples: [
    ['credential set pg_main --type postgres --data pg.json', 'from a file'],
    ['credential set api --type bearer < token.json', 'from standard input'],
  ],
  run: async (context, input) => {
    const type = textOption(input, 'type')
    if (type === undefined) throw new CpError('invalid_input', '--type is needed, for example --type postgres')
    const data = readMap(await readSource(context, textOption(input, 'data') ?? '-', DATA_BYTES_MAX))
    const name = input.args['name']!
    const tags = textOption(input, 'tags')
      ?.split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '')
    const request = { name, type, data, tags, description: textOption(input, 'description') }
    const stored = await thereOrHere(
      context,
      async (remote) =>
        credentialOf(
          await remote.call('postCredentials', {
            body: { name, type, data, ...given({ tags, description: request.description }) },
          }),
        ),
      () => withCore(context, ({ core, deps }) => storeCredential(credentialsDeps(deps, core.ids), request)),
    )
    return { json: shownCredential(stored), blocks: [{ kind: 'text', text: `stored ${stored.name} (${stored.type})` }] }
  },
}

export const credentialList: CommandSpec = {
  path: ['credential', 'list'],
  summary: 'Stored credentials, without their values',
  options: [{ flags: '--type <type>', help: 'only those of this type' }],
  examples: [['credential list', 'all of them']],
  run: async (context, input) => {
    const type = textOption(input, 'type')
    const found = await thereOrHere(
      context,
      async (remote) =>
        ((await remote.call('getCredentials', { query: given({ type }) })).items ?? []).map(credentialOf),
      async () => everyCredential((await context.deps()).databases, type),
    )
    return {
      json: { items: found.map(shownCredential) },
      blocks: [
        {
          kind: 'table',
          columns: ['name', 'type', 'tags', 'changed', 'description'],
          rows: found.map((it) => [it.name, it.type, it.tags.join(', '), it.updatedAt.slice(0, 19), it.description]),
          empty: 'no credentials; store one with "noetl-cp credential set"',
        },
      ],
    }
  },
}

export const credentialShow: CommandSpec = {
  path: ['credential', 'show'],
  summary: 'One credential; its values only with --data',
  args: [nameArgument],
  options: [{ flags: '--data', help: 'the values, too; this is logged' }],
  examples: [
    ['credential show pg_main', 'what is known about it'],
    ['credential show pg_main --data --json', 'its values'],
  ],
  // The values are what was asked for.
  showsAll: true,
  run: async (context, input) => {
    const name = input.args['name']!
    const withData = isSet(input, 'data')
    const { shown, data } = await thereOrHere<{ shown: Credential; data: JsonObject | null }>(
      context,
      (remote) => showRemotely(remote, name, withData),
      async () => {
        const deps = await context.deps()
        if (!withData) return { shown: await showCredential(deps.databases, name), data: null }
        const opened = await openCredential(credentialsDeps(deps), name)
        return { shown: opened.credential, data: opened.data }
      },
    )
    const entries: [string, string][] = [
      ['type', shown.type],
      ['tags', shown.tags.join(', ')],
      ['description', shown.description ?? ''],
      ['created', shown.createdAt.slice(0, 19)],
      ['changed', shown.updatedAt.slice(0, 19)],
      ...Object.entries(data ?? {}).map(([key, value]): [string, string] => [key, String(value)]),
    ]
    return {
      json: { ...shownCredential(shown), data },
      blocks: [{ kind: 'record', title: shown.name, entries }],
    }
  },
}

export const credentialDelete: CommandSpec = {
  path: ['credential', 'delete'],
  changes: true,
  summary: 'Forget a credential',
  args: [nameArgument],
  options: [{ flags: '--yes', help: 'really' }],
  examples: [['credential delete pg_main --yes', 'playbooks that name it fail from now on']],
  run: async (context, input) => {
    requireYes(input, 'playbooks that name this credential will fail')
    const name = input.args['name']!
    await thereOrHere<unknown>(
      context,
      (remote) => remote.call('deleteCredentialsByName', { params: { name } }),
      async () => removeCredential((await context.deps()).databases, name),
    )
    return { json: { deleted: name }, blocks: [{ kind: 'text', text: `deleted ${name}` }] }
  },
}

export const credentialRekey: CommandSpec = {
  path: ['credential', 'rekey'],
  changes: true,
  doing: 'sealing credentials',
  localBecause: 'it needs the keys themselves',
  summary: 'Seal every credential with the newest key',
  description:
    'After the new key was put before the old one in NOETL_CP_CREDENTIALS_KEY everywhere. When this is done, the old key can be taken away.',
  examples: [['credential rekey', 'the last step of a rotation']],
  run: async (context) => {
    const resealed = await rekeyCredentials(credentialsDeps(await context.deps()))
    return { json: { resealed }, blocks: [{ kind: 'text', text: `${resealed} sealed with the newest key` }] }
  },
}

async function showRemotely(remote: RemoteClient, name: string, withData: boolean) {
  const query = withData ? { include_data: true } : {}
  const answer = await remote.call('getCredentialsByName', { params: { name }, query })
  return { shown: credentialOf(answer), data: (answer.data ?? null) as JsonObject | null }
}

/** As a daemon answers it. */
function credentialOf(answer: object): Credential {
  const { created_at: createdAt, updated_at: updatedAt, ...rest } = answer as JsonObject
  return { ...rest, createdAt, updatedAt } as unknown as Credential
}

function readMap(text: string): JsonObject {
  const value = parseJsonStrict(text, { maxDepth: DEPTH_MAX })
  if (isJsonObject(value)) return value
  throw new CpError('invalid_input', 'the values of a credential are a JSON map, such as {"token": "..."}')
}
