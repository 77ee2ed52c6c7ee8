// kind: transfer. Rows from a query or an address into a table, chunk by chunk, in one transaction of the target.
import type { Connection } from '../../db/connection.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { fieldOf, mapField, requiredText, scalarText, secondsField, textField } from '../../domain/tool/configFields.js'
import { pgTarget } from '../../domain/tool/pgTarget.js'
import { arrayText } from '../../domain/tool/pgValues.js'
import { splitStatements } from '../../domain/tool/sqlStatements.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import type { Clock } from '../../runtime/clock.js'
import type { HttpClient } from '../http/httpClient.js'
import { sendHttp } from '../http/httpTool.js'
import { PG_BYTES_MAX, type PgPools } from '../postgres/pgPools.js'
import { withinTime } from '../timeLimit.js'
import type { Tool, ToolRun } from '../tool.js'
import { PgWriter, type TableColumn, type TransferMode } from './pgWriter.js'

const TIMEOUT_SECONDS = 3_600
const HTTP_SECONDS = 60
const CHUNK_ROWS = 1_000
const CHUNK_ROWS_MAX = 50_000
const MODES: readonly string[] = ['append', 'replace', 'upsert']

/** Rows with their names; values are texts of Postgres, or JSON. */
interface Chunk {
  readonly names: readonly string[]
  readonly rows: readonly (readonly (JsonValue | undefined)[])[]
}

export interface TransferDeps {
  readonly pools: PgPools
  readonly client: HttpClient
  readonly clock: Clock
}

export function createTransferTool(deps: TransferDeps): Tool {
  return {
    timeoutSeconds: TIMEOUT_SECONDS,
    run: async (run) => ({ data: await new Transfer(run, deps).perform() }),
  }
}

class Transfer {
  private readonly source: JsonObject
  private readonly target: JsonObject
  private readonly mapping: JsonObject | undefined
  private readonly counts = { rows_read: 0, rows_written: 0, chunks: 0 }

  constructor(
    private readonly run: ToolRun,
    private readonly deps: TransferDeps,
  ) {
    const { config } = run
    this.source = mapField(config, 'source') ?? missing('source')
    this.target = mapField(config, 'target') ?? missing('target')
    this.mapping = mapField(this.target, 'mapping') ?? mapField(config, 'mapping')
  }

  async perform(): Promise<JsonObject> {
    const kind = kindOf(this.source)
    if (kindOf(this.target) !== 'postgres' || (kind !== 'postgres' && kind !== 'http')) {
      throw new ToolFailure('unsupported', `transfer from ${kind} to ${kindOf(this.target)} is not possible here`)
    }
    const { config, signal, timeoutMs } = this.run
    const mode = textField(this.target, 'mode') ?? textField(config, 'mode') ?? 'append'
    if (!MODES.includes(mode)) throw new ToolFailure('config', `mode ${mode} is none of ${MODES.join(', ')}`)
    const key = keyOf(fieldOf(this.target, 'key') ?? fieldOf(config, 'key'))
    if (mode === 'upsert' && key.length === 0) throw new ToolFailure('config', 'mode upsert needs a key')
    const table = requiredText(this.target, 'the target of transfer', 'table')
    await this.deps.pools.use(await this.databaseOf(this.target), signal, timeoutMs, async (connection) => {
      const writer = await PgWriter.begin(connection, { table, mode: mode as TransferMode, key }, timeoutMs)
      if (kind === 'postgres') await this.fromPostgres(writer)
      else await this.fromHttp(writer)
      await writer.commit()
    })
    return { status: 'success', table, mode, ...this.counts }
  }

  private async databaseOf(side: JsonObject) {
    const auth = await this.run.auth.fieldsOf(fieldOf(side, 'auth', 'credential'), 'postgres')
    return pgTarget(fieldOf(side, 'connection', 'connection_string'), auth, side)
  }

  private async fromPostgres(writer: PgWriter): Promise<void> {
    const [query, ...more] = splitStatements(requiredText(this.source, 'the source of transfer', 'query', 'command'))
    if (query === undefined || more.length > 0)
      throw new ToolFailure('config', 'the source of transfer needs one query')
    const { signal, timeoutMs } = this.run
    const limits = { deadlineMs: timeoutMs, bytesMax: PG_BYTES_MAX }
    const rows = chunkRows(this.run.config)
    await this.deps.pools.use(
      await this.databaseOf(this.source),
      signal,
      timeoutMs,
      async (connection: Connection) => {
        await connection.raw('begin read only', [], limits)
        await connection.raw(`declare noetl_transfer no scroll cursor for ${query}`, [], limits)
        for (;;) {
          const chunk = await connection.raw(`fetch ${rows} from noetl_transfer`, [], limits)
          const names = (chunk.columns ?? []).map(({ name }) => name)
          if (this.counts.chunks === 0) this.columnsOf(writer, names, true)
          if (chunk.rows.length === 0) return
          const texts = chunk.rows.map((row) => row.map((value) => value?.toString('utf8') ?? null))
          await this.write(writer, { names, rows: texts }, true)
          if (chunk.rows.length < rows) return
        }
      },
      'source',
    )
  }

  private async fromHttp(writer: PgWriter): Promise<void> {
    const auth = await this.run.auth.fieldsOf(fieldOf(this.source, 'auth', 'credential'), 'http')
    const ms = (secondsField(this.source, 'timeout') ?? HTTP_SECONDS) * 1000
    const answer = await withinTime({ parent: this.run.signal, ms, what: 'the source of transfer' }, (signal) =>
      sendHttp(this.deps.client, this.deps.clock, this.source, auth, signal),
    )
    const list = rowsOf(answer.data['data'] ?? null, textField(this.source, 'data_path', 'path'))
    const names = [...new Set(list.flatMap((row) => Object.keys(row)))]
    const size = chunkRows(this.run.config)
    for (let from = 0; from < list.length; from += size) {
      const rows = list.slice(from, from + size).map((row) => names.map((name) => row[name]))
      await this.write(writer, { names, rows }, false)
    }
  }

  private async write(writer: PgWriter, chunk: Chunk, isStrict: boolean): Promise<void> {
    const columns = this.columnsOf(writer, chunk.names, isStrict)
    const toText = isStrict ? plainText : columnText
    const rows = chunk.rows.map((row) => columns.map(({ column, index }) => toText(row[index], column)))
    this.counts.rows_read += rows.length
    this.counts.rows_written += await writer.write(
      columns.map(({ column }) => column),
      rows,
    )
    this.counts.chunks += 1
  }

  /** Target columns and where their values stand. Without a mapping, equal names belong together. */
  private columnsOf(writer: PgWriter, names: readonly string[], isStrict: boolean) {
    if (this.mapping !== undefined) {
      return Object.entries(this.mapping).map(([target, source]) => {
        const index = names.indexOf(scalarText(source))
        if (index < 0 && isStrict) throw new ToolFailure('config', `the source has no column ${scalarText(source)}`)
        return { column: writer.column(target), index }
      })
    }
    const known = new Set(writer.columns.map(({ name }) => name))
    const used = isStrict ? names : names.filter((name) => known.has(name))
    if (used.length === 0) throw new ToolFailure('config', 'source and target have no column in common; give a mapping')
    return used.map((name) => ({ column: writer.column(name), index: names.indexOf(name) }))
  }
}

function missing(name: string): never {
  throw new ToolFailure('config', `transfer needs ${name}`)
}

function kindOf(side: JsonObject): string {
  return (textField(side, 'kind', 'type', 'tool') ?? '').toLowerCase()
}

function keyOf(value: JsonValue | undefined): string[] {
  if (value === undefined) return []
  return (Array.isArray(value) ? value.map(scalarText) : scalarText(value).split(',')).map((name) => name.trim())
}

function chunkRows(config: JsonObject): number {
  const text = textField(config, 'chunk_size')
  if (text === undefined) return CHUNK_ROWS
  const rows = Number(text)
  if (Number.isInteger(rows) && rows >= 1 && rows <= CHUNK_ROWS_MAX) return rows
  throw new ToolFailure('config', `chunk_size must be a whole number from 1 to ${CHUNK_ROWS_MAX}`)
}

/** The list in an answer, at its dotted path where one is given. */
function rowsOf(body: JsonValue, path: string | undefined): JsonObject[] {
  let list: JsonValue | undefined = body
  for (const key of path?.replace(/^\$\.?/, '').split('.') ?? []) {
    if (key !== '') list = isJsonObject(list) ? list[key] : undefined
  }
  if (Array.isArray(list) && list.every(isJsonObject)) return list
  throw new ToolFailure('schema', 'the answer holds no list of maps; name its place with source.data_path')
}

/** Of Postgres: its own text for the value. */
function plainText(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null
}

/** Of JSON: as a column of this type takes it. */
function columnText(value: JsonValue | undefined, { type }: TableColumn): string | null {
  if (value === undefined || value === null) return null
  if (type === 'json' || type === 'jsonb') return writeJson(value)
  return Array.isArray(value) && type.endsWith('[]') ? arrayText(value) : scalarText(value)
}
