// kind: duckdb, where @duckdb/node-api is installed.
import { integerValue, type JsonObject, type JsonValue, setKey } from '../../domain/json/value.js'
import { fieldOf, flagField, textField } from '../../domain/tool/configFields.js'
import { splitStatements } from '../../domain/tool/sqlStatements.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import type { DataFolder } from '../script/dataFolder.js'
import type { Tool, ToolRun } from '../tool.js'
import { DuckdbInstances } from './duckdbInstances.js'
import { type DuckConnection, type DuckReader, loadDuckdb } from './duckdbPackage.js'

const TIMEOUT_SECONDS = 300
const ROWS_MAX = 200_000
const ROWS_RETURNED = 3
const INTEGERS: ReadonlySet<string> = new Set(['BIGINT', 'UBIGINT', 'HUGEINT', 'UHUGEINT'])

export function createDuckdbTool(folder: DataFolder): Tool {
  let instances: DuckdbInstances | undefined

  function open(): DuckdbInstances {
    const duckdb = instances === undefined ? loadDuckdb() : undefined
    if (duckdb !== undefined) instances = new DuckdbInstances(duckdb)
    if (instances !== undefined) return instances
    throw new ToolFailure('unsupported', 'duckdb is not installed here: npm install @duckdb/node-api')
  }

  return {
    timeoutSeconds: TIMEOUT_SECONDS,
    run: async (run) => {
      const statements = readStatements(run.config)
      const name = textField(run.config, 'database', 'db_path')
      const path = name === undefined || name === ':memory:' ? undefined : await folder.writable(name)
      const data = await open().use(path, run.command.executionId, (connection) => perform(connection, statements, run))
      return { data }
    },
    close: async () => instances?.closeAll(),
  }
}

function readStatements(config: JsonObject): string[] {
  const source = fieldOf(config, 'query', 'command', 'commands', 'sql')
  const texts = Array.isArray(source) ? source : source === undefined ? [] : [source]
  const statements = texts.flatMap((text) => {
    if (typeof text !== 'string') throw new ToolFailure('config', 'duckdb needs its commands as texts')
    return splitStatements(text)
  })
  if (statements.length === 0) throw new ToolFailure('config', 'duckdb needs query, command or commands')
  return statements
}

async function perform(connection: DuckConnection, statements: readonly string[], run: ToolRun): Promise<JsonObject> {
  const onAbort = (): void => connection.interrupt()
  run.signal.addEventListener('abort', onAbort, { once: true })
  const asObjects = flagField(run.config, true, 'as_objects')
  const parts: JsonObject[] = []
  try {
    for (const [index, statement] of statements.entries()) {
      if (run.signal.aborted) throw run.signal.reason
      parts.push(await runStatement(connection, statement, asObjects, `statement ${index + 1} of ${statements.length}`))
    }
  } finally {
    run.signal.removeEventListener('abort', onAbort)
  }
  const data: JsonObject = { ...parts.at(-1) }
  for (const [index, part] of parts.entries()) data[`command_${index}`] = part
  return data
}

async function runStatement(
  connection: DuckConnection,
  text: string,
  asObjects: boolean,
  place: string,
): Promise<JsonObject> {
  let reader: DuckReader
  try {
    const statements = await connection.extractStatements(text)
    reader = await (await statements.prepare(0)).streamAndReadUntil(ROWS_MAX + 1)
  } catch (error) {
    const [first = ''] = (error as Error).message.split('\n')
    throw new ToolFailure('db_error', `${place}: ${first}`, { code: 'DUCKDB', cause: error })
  }
  if (reader.returnType !== ROWS_RETURNED) {
    return { affected_rows: Number(reader.rowsChanged), row_count: 0, rows: [], columns: [] }
  }
  if (reader.currentRowCount > ROWS_MAX) throw new ToolFailure('schema', `${place} gives more than ${ROWS_MAX} rows`)
  const columns = reader.columnNames()
  const types = reader.columnTypes().map(String)
  const values = reader
    .getRowsJson()
    .map((row) => row.map((value, index) => plainValue(value as JsonValue, types[index])))
  return { columns, rows: asObjects ? values.map((row) => rowObject(row, columns)) : values, row_count: values.length }
}

/** Large integers come as texts; times without the letter and the colon of RFC 3339. */
function plainValue(value: JsonValue, type = ''): JsonValue {
  if (typeof value !== 'string') return value
  if (INTEGERS.has(type)) return integerValue(BigInt(value))
  if (type === 'TIMESTAMP WITH TIME ZONE') return value.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')
  if (type === 'TIMESTAMP') return value.replace(' ', 'T')
  if (type.startsWith('DECIMAL') && /^-?\d+$/.test(value)) return integerValue(BigInt(value))
  return value
}

function rowObject(row: readonly JsonValue[], columns: readonly string[]): JsonObject {
  const object: JsonObject = {}
  for (const [index, name] of columns.entries()) setKey(object, name, row[index] ?? null)
  return object
}
