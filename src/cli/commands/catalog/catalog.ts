// The catalog: register, list, get, delete, restore.

import { YAML_LIMITS } from '../../../domain/catalog/yamlText.js'
import { wireTimeFromPostgres } from '../../../domain/events/wireTime.js'
import { parseJson } from '../../../domain/json/parse.js'
import type { JsonObject, JsonValue } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import {
  deleteEntry,
  listEntries,
  type Removed,
  registerEntry,
  restoreEntry,
} from '../../../services/catalog/catalog.js'
import { findEntry } from '../../../services/catalog/findEntry.js'
import type { CommandSpec, Input } from '../../command.js'
import { EXIT } from '../../exit.js'
import { integerOption, isSet, requireYes, textOption } from '../../options.js'
import { type Output, toned } from '../../output.js'
import {
  type EntryShown,
  type EntrySummary,
  entriesRemotely,
  entryRemotely,
  registerRemotely,
  removedRemotely,
} from '../../remote/catalog.js'
import { thereOrHere } from '../../remote.js'
import { openSink } from '../../sink.js'
import { readSource } from '../../source.js'
import { withCore } from '../../writing.js'

const WARNINGS_SHOWN = 10
const VERSION_MAX = 2_147_483_647
// Without their documents entries are small.
const LIST_BYTES_MAX = 64 * 1_048_576
const LIMIT_MAX = 1_000
// Base64 is a third longer than the document it holds.
export const FILE_BYTES_MAX = YAML_LIMITS.bytesMax * 2

const KINDS: readonly string[] = ['playbook', 'subscription']
export const fileArgument = { name: 'file', help: 'YAML file, or - for standard input', completes: 'file' } as const
const versionOption = { flags: '--version <n>', help: 'this version only' }
const reasonOption = { flags: '--reason <text>', help: 'why, for the record', isWhy: true } as const

export const catalogRegister: CommandSpec = {
  path: ['catalog', 'register'],
  changes: true,
  summary: 'Register a playbook or subscription from a file',
  description:
    'Registers a YAML document under the path in its metadata. The same content again is the same version; --force makes a new one.',
  args: [fileArgument],
  options: [
    { flags: '--force', help: 'a new version even if nothing changed' },
    { flags: '--kind <kind>', help: 'kind of a document that names none; default playbook' },
  ],
  examples: [
    ['catalog register hello.yaml', 'from a file'],
    ['catalog register - < hello.yaml', 'from standard input'],
  ],
  run: async (context, input) => {
    const content = await readSource(context, input.args['file']!, FILE_BYTES_MAX)
    const request = { content, resourceType: textOption(input, 'kind'), force: isSet(input, 'force') }
    const registered = await thereOrHere(
      context,
      (remote) => registerRemotely(remote, request),
      () => withCore(context, (writing) => registerEntry(writing, request)),
    )
    const { path, version, catalogId, kind, created, warnings } = registered
    return {
      json: { path, version, catalog_id: catalogId, kind, created, warnings: warnings.map((one) => ({ ...one })) },
      blocks: [
        {
          kind: 'record',
          entries: [
            ['path', path],
            ['version', version],
            ['id', catalogId],
            ['kind', kind],
          ],
        },
      ],
      notes: [
        ...warnings.slice(0, WARNINGS_SHOWN).map((warning) => `warning: ${warning.path} ${warning.message}`),
        ...(warnings.length > WARNINGS_SHOWN
          ? [`${warnings.length - WARNINGS_SHOWN} further warnings; see "noetl-cp catalog validate"`]
          : []),
        created ? 'registered' : 'nothing changed: this is the newest version already',
      ],
    }
  },
}

export const catalogList: CommandSpec = {
  path: ['catalog', 'list'],
  showsAll: true,
  summary: 'Entries of the catalog, newest first',
  options: [
    { flags: '--kind <kind>', help: 'playbook, subscription, … in any case', completes: KINDS },
    { flags: '--archived', help: 'archived ones too' },
    { flags: '--limit <n>', help: `at most ${LIMIT_MAX}`, default: '100' },
  ],
  examples: [
    ['catalog list', 'the newest hundred'],
    ['catalog list --kind subscription --json', 'for programs, without the content'],
  ],
  run: async (context, input) => {
    const limit = integerOption(input, 'limit', { min: 1, max: LIMIT_MAX }) ?? 100
    const kind = textOption(input, 'kind')
    const includeArchived = isSet(input, 'archived')
    const { entries, hasMore } = await thereOrHere<{ entries: readonly EntrySummary[]; hasMore: boolean }>(
      context,
      (remote) => entriesRemotely(remote, { kind, includeArchived, limit }),
      async () =>
        listEntries(await context.deps(), {
          kind: kind ?? null,
          includeArchived,
          after: null,
          limit,
          includeContent: false,
          bytesMax: LIST_BYTES_MAX,
        }),
    )
    if (kind !== undefined && entries.length === 0 && !KINDS.includes(kind.toLowerCase()))
      throw new CpError('not_found', `no entry is of kind ${kind}; usual are ${KINDS.join(' and ')}`)
    return {
      json: { entries: entries.map(summaryOf), has_more: hasMore },
      blocks: [
        {
          kind: 'table',
          columns: ['path', 'version', 'kind', 'id', 'created', 'state'],
          spare: ['created'],
          rows: entries.map((entry) => [
            entry.path,
            entry.version,
            entry.kind,
            entry.catalog_id,
            wireTimeFromPostgres(entry.created_at, 'created_at'),
            entry.archived_at === null ? 'live' : toned('archived', 'dim'),
          ]),
          empty: kind === undefined ? 'the catalog is empty' : `no ${kind.toLowerCase()} is registered`,
        },
      ],
      notes: hasMore ? [`only the newest ${entries.length} are shown; raise --limit for more`] : [],
    }
  },
}

export const catalogGet: CommandSpec = {
  path: ['catalog', 'get'],
  showsAll: true,
  summary: 'Print the YAML of an entry',
  args: [{ name: 'entry', help: 'catalog path, or catalog id', completes: 'path' }],
  options: [{ flags: '--version <n>', help: 'version of the path; default the newest' }],
  examples: [
    ['catalog get demo/hello > hello.yaml', 'the newest version'],
    ['catalog get demo/hello --version 2', 'an older one'],
  ],
  run: async (context, input) => {
    const name = input.args['entry']!
    const isId = /^\d+$/.test(name)
    const which = { catalogId: isId ? name : undefined, path: isId ? undefined : name, version: versionOf(input) }
    const entry = await thereOrHere<EntryShown>(
      context,
      (remote) => entryRemotely(remote, which),
      async () => {
        const found = await findEntry(await context.deps(), which)
        const { payload, layout, meta } = found
        return { ...found, payload: jsonOf(payload), layout: jsonOf(layout), meta: jsonOf(meta) }
      },
    )
    if (context.isJson) {
      const { content, payload, layout, meta } = entry
      return { json: { ...summaryOf(entry), content, payload, layout, meta }, blocks: [] }
    }
    // Byte for byte as it was registered: a line more or less would be another document.
    await openSink(context, undefined).write(entry.content ?? '')
    return EXIT.ok
  },
}

function jsonOf(text: string | null): JsonValue {
  return text === null ? null : parseJson(text)
}

export const catalogDelete: CommandSpec = {
  path: ['catalog', 'delete'],
  changes: true,
  summary: 'Delete the versions of a path',
  description:
    'Deletes every version of a path, or one. A version that executions were started from is archived instead, so that their history stays readable; "catalog restore" takes that back.',
  args: [{ name: 'path', help: 'catalog path', completes: 'path' }],
  options: [versionOption, reasonOption, { flags: '--yes', help: 'really' }],
  examples: [
    ['catalog delete demo/hello --yes', 'all versions'],
    ['catalog delete demo/hello --version 2 --yes', 'one'],
  ],
  run: async (context, input) => {
    const path = input.args['path']!
    requireYes(input, `this deletes ${versionOf(input) === undefined ? 'every version' : 'a version'} of ${path}`)
    const version = versionOf(input)
    const { removed } = await thereOrHere(
      context,
      (remote) => removedRemotely(remote, 'postCatalogDelete', { path, version, reason: textOption(input, 'reason') }),
      async () => deleteEntry(await context.deps(), path, version),
    )
    if (removed.length === 0) throw nothingThere(path, input, 'catalog list')
    return removedOutput(path, { removed }, (archived) => (archived ? 'archived' : 'deleted'))
  },
}

export const catalogRestore: CommandSpec = {
  path: ['catalog', 'restore'],
  changes: true,
  summary: 'Bring archived versions of a path back',
  args: [{ name: 'path', help: 'catalog path', completes: 'path' }],
  options: [versionOption, reasonOption],
  examples: [['catalog restore demo/hello', 'all archived versions']],
  run: async (context, input) => {
    const path = input.args['path']!
    const version = versionOf(input)
    const { removed } = await thereOrHere(
      context,
      (remote) => removedRemotely(remote, 'postCatalogRestore', { path, version, reason: textOption(input, 'reason') }),
      async () => restoreEntry(await context.deps(), path, version),
    )
    if (removed.length === 0) throw nothingThere(path, input, 'catalog list --archived')
    return removedOutput(path, { removed }, () => 'live')
  },
}

function versionOf(input: Input): number | undefined {
  return integerOption(input, 'version', { min: 1, max: VERSION_MAX })
}

function summaryOf(entry: EntrySummary): JsonObject {
  return {
    catalog_id: entry.catalog_id,
    path: entry.path,
    version: entry.version,
    kind: entry.kind,
    created_at: wireTimeFromPostgres(entry.created_at, 'created_at'),
    archived_at: entry.archived_at === null ? null : wireTimeFromPostgres(entry.archived_at, 'archived_at'),
  }
}

function nothingThere(path: string, input: Input, hint: string): CpError {
  const version = versionOf(input)
  return new CpError(
    'not_found',
    `there is nothing to do for ${path}${version === undefined ? '' : ` version ${version}`}; see "noetl-cp ${hint}"`,
  )
}

function removedOutput(path: string, { removed }: Removed, stateOf: (archived: boolean) => string): Output {
  return {
    json: {
      path,
      versions: removed.map((row) => ({
        catalog_id: row.catalog_id,
        version: row.version,
        state: stateOf(row.archived),
      })),
    },
    blocks: [
      {
        kind: 'table',
        columns: ['path', 'version', 'id', 'now'],
        isProse: true,
        rows: removed.map((row) => [path, row.version, row.catalog_id, stateOf(row.archived)]),
      },
    ],
  }
}
