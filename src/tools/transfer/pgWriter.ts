// Writes rows of texts into a table, each value cast to the type of its column by the server.
import type { Connection } from '../../db/connection.js'
import { arrayText } from '../../domain/tool/pgValues.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'

export type TransferMode = 'append' | 'replace' | 'upsert'

export interface WriterSettings {
  readonly table: string
  readonly mode: TransferMode
  /** Columns that say which row is the same. */
  readonly key: readonly string[]
}

export interface TableColumn {
  readonly name: string
  /** As SQL writes it: `numeric(10,2)`, `text[]`. */
  readonly type: string
}

export class PgWriter {
  private constructor(
    private readonly connection: Connection,
    private readonly settings: WriterSettings,
    /** As the server writes it, quoted. */
    private readonly table: string,
    readonly columns: readonly TableColumn[],
    private readonly limits: { deadlineMs: number; bytesMax: number },
  ) {}

  /** Begins the transaction in which everything is written. */
  static async begin(connection: Connection, settings: WriterSettings, timeoutMs: number): Promise<PgWriter> {
    const limits = { deadlineMs: timeoutMs, bytesMax: BYTES_MAX }
    const query = `select $1::text::regclass::text, attname, format_type(atttypid, atttypmod) from pg_attribute
      where attrelid = $1::text::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`
    const { rows } = await connection.raw(query, [settings.table], limits)
    const text = (value: Buffer | null | undefined): string => value?.toString('utf8') ?? ''
    const columns = rows.map((row) => ({ name: text(row[1]), type: text(row[2]) }))
    const unknown = settings.key.find((name) => !columns.some((column) => column.name === name))
    if (unknown !== undefined) throw new ToolFailure('config', `${settings.table} has no column ${unknown} for the key`)
    await connection.raw('begin', [], limits)
    const writer = new PgWriter(connection, settings, text(rows[0]?.[0]), columns, limits)
    if (settings.mode === 'replace') await connection.raw(`delete from ${writer.table}`, [], limits)
    return writer
  }

  column(name: string): TableColumn {
    const found = this.columns.find((column) => column.name === name)
    if (found === undefined) throw new ToolFailure('config', `${this.settings.table} has no column ${name}`)
    return found
  }

  /** `rows`: one text or null for each of the columns. Answers how many were written. */
  async write(columns: readonly TableColumn[], rows: readonly (readonly (string | null)[])[]): Promise<number> {
    if (rows.length === 0) return 0
    const names = columns.map(({ name }) => quoted(name))
    const values = columns.map(({ type }, index) => `v${index}::${type}`)
    const lists = columns.map((_, index) => `$${index + 1}::text[]`)
    const aliases = columns.map((_, index) => `v${index}`)
    const text = `insert into ${this.table} (${names.join(', ')}) select ${values.join(', ')}
      from unnest(${lists.join(', ')}) as r(${aliases.join(', ')})${this.onConflict(columns)}`
    const params = columns.map((_, index) => arrayText(rows.map((row) => row[index] ?? null)))
    return (await this.connection.raw(text, params, this.limits)).count
  }

  private onConflict(columns: readonly TableColumn[]): string {
    const { mode, key } = this.settings
    if (mode !== 'upsert') return ''
    const others = columns.filter(({ name }) => !key.includes(name)).map(({ name }) => quoted(name))
    const target = `on conflict (${key.map(quoted).join(', ')})`
    if (others.length === 0) return ` ${target} do nothing`
    return ` ${target} do update set ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`
  }

  async commit(): Promise<void> {
    await this.connection.raw('commit', [], this.limits)
  }
}

const BYTES_MAX = 1024 * 1024

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
