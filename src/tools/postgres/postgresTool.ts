// kind: postgres
import type { Connection, RawRows } from '../../db/connection.js'
import { type JsonObject, type JsonValue, setKey } from '../../domain/json/value.js'
import { fieldOf, flagField, textField } from '../../domain/tool/configFields.js'
import { pgTarget } from '../../domain/tool/pgTarget.js'
import { type NumericForm, OWN_TYPES_FROM, type PgTypes, pgParam, pgValue } from '../../domain/tool/pgValues.js'
import { firstWord, splitStatements } from '../../domain/tool/sqlStatements.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import type { ScriptSource } from '../script/scriptSource.js'
import type { Tool, ToolRun } from '../tool.js'
import { toPgFailure } from './pgFailure.js'
import { PG_BYTES_MAX, type PgPools } from './pgPools.js'

const TIMEOUT_SECONDS = 300
/** The server would wait for data, or send it, beside the protocol. */
const COPY = /\b(?:from\s+stdin|to\s+stdout)\b/i
const TRANSACTION_WORDS: ReadonlySet<string> = new Set([
  'begin',
  'start',
  'commit',
  'end',
  'rollback',
  'abort',
  'prepare',
])

export function createPostgresTool(pools: PgPools, scripts: ScriptSource): Tool {
  return {
    timeoutSeconds: TIMEOUT_SECONDS,
    run: async (run) => {
      const { config, signal, timeoutMs } = run
      const statements = await readStatements(run, scripts)
      const auth = await run.auth.fieldsOf(fieldOf(config, 'auth', 'credential'), 'postgres')
      const target = pgTarget(fieldOf(config, 'connection', 'connection_string'), auth, config)
      const params = readParams(config['params'], statements)
      const data = await pools.use(target, signal, timeoutMs, (connection) =>
        new Script(connection, config, timeoutMs).perform(statements, params),
      )
      return { data }
    },
    close: () => pools.close(),
  }
}

async function readStatements(run: ToolRun, scripts: ScriptSource): Promise<string[]> {
  const source = fieldOf(run.config, 'query', 'command', 'commands', 'sql') ?? (await scripts.read(run))
  const texts = Array.isArray(source) ? source : source === undefined ? [] : [source]
  const statements = texts.flatMap((text) => {
    if (typeof text !== 'string') throw new ToolFailure('config', 'postgres needs its commands as texts')
    return splitStatements(text)
  })
  if (statements.length === 0) throw new ToolFailure('config', 'postgres needs query, command or commands')
  const copy = statements.find((statement) => firstWord(statement) === 'copy' && COPY.test(statement))
  if (copy !== undefined) throw new ToolFailure('unsupported', 'COPY from stdin and to stdout are not possible here')
  return statements
}

function readParams(source: JsonValue | undefined, statements: readonly string[]): unknown[] {
  if (source === undefined || source === null) return []
  const values = Array.isArray(source) ? source : Object.values(source as JsonObject)
  if (values.length > 0 && statements.length > 1) {
    throw new ToolFailure('config', `params belong to one statement, and there are ${statements.length}`)
  }
  return values.map(pgParam)
}

class Script {
  private readonly limits: { deadlineMs: number; bytesMax: number }
  private readonly arrays = new Map<number, number>()

  constructor(
    private readonly connection: Connection,
    private readonly config: JsonObject,
    timeoutMs: number,
  ) {
    this.limits = { deadlineMs: timeoutMs, bytesMax: PG_BYTES_MAX }
  }

  async perform(statements: readonly string[], params: readonly unknown[]): Promise<JsonObject> {
    const schema = textField(this.config, 'schema')
    if (schema !== undefined) await this.run(`set search_path to "${schema.replaceAll('"', '""')}", public`)
    const ownTransactions = statements.some((statement) => TRANSACTION_WORDS.has(firstWord(statement)))
    const isOne = statements.length > 1 && !ownTransactions && !flagField(this.config, false, 'autocommit')
    if (isOne) await this.run('begin')
    const results: RawRows[] = []
    for (const [index, statement] of statements.entries()) {
      results.push(await this.runNumbered(statement, params, index, statements.length))
    }
    if (isOne) await this.run('commit')
    await this.learnTypes(results)
    return this.dataOf(results)
  }

  private async runNumbered(text: string, params: readonly unknown[], index: number, count: number): Promise<RawRows> {
    try {
      return await this.run(text, params)
    } catch (error) {
      const failure = toPgFailure(error)
      if (count === 1) throw failure
      throw new ToolFailure(failure.kind, `statement ${index + 1} of ${count}: ${failure.message}`, failure.facts)
    }
  }

  private run(text: string, params: readonly unknown[] = []): Promise<RawRows> {
    return this.connection.raw(text, params, this.limits)
  }

  /** Which types of the database's own are arrays. */
  private async learnTypes(results: readonly RawRows[]): Promise<void> {
    const unknown = new Set<number>()
    for (const { columns } of results) {
      for (const { type } of columns ?? []) if (type >= OWN_TYPES_FROM) unknown.add(type)
    }
    if (unknown.size === 0) return
    const list = [...unknown].join(',')
    const found = await this.run(`select oid, typelem from pg_type where oid in (${list}) and typcategory = 'A'`)
    for (const row of found.rows) this.arrays.set(Number(row[0]?.toString()), Number(row[1]?.toString()))
  }

  private dataOf(results: readonly RawRows[]): JsonObject {
    const numeric = textField(this.config, 'numeric') === 'number' ? 'number' : 'text'
    const types: PgTypes = { numeric: numeric as NumericForm, arrays: this.arrays }
    const asObjects = flagField(this.config, true, 'as_objects')
    const parts = results.map((result) => resultJson(result, types, asObjects))
    const data: JsonObject = { ...parts.at(-1) }
    parts.forEach((part, index) => {
      data[`command_${index}`] = part
    })
    return data
  }
}

function resultJson({ command, count, columns, rows }: RawRows, types: PgTypes, asObjects: boolean): JsonObject {
  if (columns === undefined || columns.length === 0) {
    return { command, affected_rows: count ?? 0, row_count: 0, rows: [], columns: [] }
  }
  const values = rows.map((row) =>
    row.map((value, index) => {
      const type = (columns[index] as { type: number }).type
      return value === null ? null : pgValue(value.toString('utf8'), type, types)
    }),
  )
  return {
    command,
    columns: columns.map(({ name }) => name),
    rows: asObjects ? values.map((row) => rowObject(row, columns)) : values,
    row_count: rows.length,
    ...(command === 'SELECT' ? {} : { affected_rows: count }),
  }
}

function rowObject(row: readonly JsonValue[], columns: readonly { name: string }[]): JsonObject {
  const object: JsonObject = {}
  for (const [index, { name }] of columns.entries()) setKey(object, name, row[index] ?? null)
  return object
}
