// The part of @duckdb/node-api that we use. The package weighs 70 MB, so it is installed by those who want it: nothing here
// may name it in an import that must succeed.
import { createRequire } from 'node:module'

export interface DuckReader {
  readonly currentRowCount: number
  readonly rowsChanged: number
  /** 3: rows; 1: a number of changed rows; 2: nothing. */
  readonly returnType: number
  columnNames(): string[]
  columnTypes(): { toString(): string }[]
  getRowsJson(): unknown[][]
}

interface DuckPrepared {
  streamAndReadUntil(rows: number): Promise<DuckReader>
  destroySync?(): void
}

interface DuckStatements {
  readonly count: number
  prepare(index: number): Promise<DuckPrepared>
}

export interface DuckConnection {
  extractStatements(sql: string): Promise<DuckStatements>
  run(sql: string): Promise<unknown>
  interrupt(): void
  closeSync(): void
}

export interface DuckInstance {
  connect(): Promise<DuckConnection>
  closeSync(): void
}

export interface DuckPackage {
  DuckDBInstance: { create(path: string, options: Record<string, string>): Promise<DuckInstance> }
}

const PACKAGE = '@duckdb/node-api'

/** Undefined when it is not installed. */
export function loadDuckdb(): DuckPackage | undefined {
  const require = createRequire(import.meta.url)
  try {
    require.resolve(PACKAGE)
  } catch {
    return undefined
  }
  return require(PACKAGE) as DuckPackage
}
