// Databases of DuckDB that are open: a file once for all who use it, and one in memory for each execution, so that a step
// finds the tables of the step before it. Closed a while after nobody uses them.
import type { DuckConnection, DuckInstance, DuckPackage } from './duckdbPackage.js'

interface Open {
  readonly instance: Promise<DuckInstance>
  users: number
  timer: NodeJS.Timeout | undefined
}

const FILE_IDLE_MS = 10_000
/** Longer than two steps of an execution usually lie apart; what must last longer belongs into a file. */
const MEMORY_IDLE_MS = 10 * 60_000
const OPEN_MAX = 32
// No files but its own database, no network, no extensions: steps of this kind need no permission.
const OPTIONS = { enable_external_access: 'false', lock_configuration: 'true', threads: '2', max_memory: '1GB' }

export class DuckdbInstances {
  private readonly open = new Map<string, Open>()

  constructor(private readonly duckdb: DuckPackage) {}

  /** `path`: a file, or undefined for the database in memory of this execution. */
  async use<T>(
    path: string | undefined,
    executionId: string,
    work: (connection: DuckConnection) => Promise<T>,
  ): Promise<T> {
    const key = path ?? `:memory:${executionId}`
    const entry = this.open.get(key) ?? this.create(key, path ?? ':memory:')
    clearTimeout(entry.timer)
    entry.users += 1
    try {
      const connection = await (await entry.instance).connect()
      try {
        return await work(connection)
      } finally {
        connection.closeSync()
      }
    } finally {
      entry.users -= 1
      if (entry.users === 0) this.closeLater(key, entry, path === undefined ? MEMORY_IDLE_MS : FILE_IDLE_MS)
    }
  }

  private create(key: string, path: string): Open {
    const entry: Open = { instance: this.duckdb.DuckDBInstance.create(path, OPTIONS), users: 0, timer: undefined }
    // Whoever uses it is told; the next one tries again.
    entry.instance.catch(() => this.open.delete(key))
    this.open.set(key, entry)
    const unused = [...this.open].find(([, { users }]) => users === 0)
    if (this.open.size > OPEN_MAX && unused !== undefined && unused[0] !== key) void this.close(...unused)
    return entry
  }

  private closeLater(key: string, entry: Open, ms: number): void {
    entry.timer = setTimeout(() => void this.close(key, entry), ms)
    entry.timer.unref()
  }

  private async close(key: string, entry: Open): Promise<void> {
    if (this.open.get(key) === entry) this.open.delete(key)
    clearTimeout(entry.timer)
    const instance = await entry.instance.catch(() => undefined)
    instance?.closeSync()
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.open].map(([key, entry]) => this.close(key, entry)))
  }
}
