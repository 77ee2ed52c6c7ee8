// Gives the databases back to the NoETL server: results go into its own table, then everything goes that only noetl-cp needs.
// Refused while a daemon runs, and while a result is left that cannot be handed over.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Databases } from '../../db/databases.js'
import type { Db } from '../../db/db.js'
import { loadRemoval, migrationState, removeMigrations } from '../../db/migrations.js'
import { resultRef, resultSealPlace } from '../../domain/results/resultRef.js'
import type { Keyring } from '../../domain/secrets/keyring.js'
import { CpError, toCpError } from '../../errors.js'
import { liveMembers } from '../../stores/leases/memberStore.js'
import { handOverResult, listResults, type StoredResult } from '../../stores/results/resultStore.js'

export interface RemovalDeps {
  databases: Databases
  keyring: Keyring
}

export interface Removed {
  label: string
  /** Results that the NoETL server has now. */
  results: number
  /** False: there was nothing of ours. */
  removed: boolean
}

// Each may have tens of megabytes.
const PAGE = 4
const KEPT_SHOWN = 3

/** What is run on each database once its results are handed over. */
export function removalSql(): string {
  return loadRemoval()
}

export async function removeSchema(deps: RemovalDeps, options: { discardsResults: boolean }): Promise<Removed[]> {
  const { all, cluster } = deps.databases
  const ours = new Set<string>()
  for (const { label, db, settings } of all) {
    if ((await migrationState(settings)).applied.length === 0) continue
    ours.add(label)
    const [member] = await liveMembers(db)
    if (member !== undefined) {
      throw new CpError('conflict', `${member} is at work in ${label}; stop it and its like first, nothing was changed`)
    }
  }
  const results = new Map<string, number>()
  for (const { label, db } of all) {
    if (ours.has(label) && !options.discardsResults) results.set(label, await handOver(db, cluster.db, deps.keyring))
  }
  // The database of the cluster last: it is the one that the others are given back from.
  const inOrder = [...all.filter((named) => named !== cluster), cluster]
  for (const { label, settings } of inOrder) if (ours.has(label)) await removeMigrations(settings)
  return all.map(({ label }) => ({ label, results: results.get(label) ?? 0, removed: ours.has(label) }))
}

async function handOver(from: Db, to: Db, keyring: Keyring): Promise<number> {
  const kept: string[] = []
  let count = 0
  let after = { execution_id: '-9223372036854775808', result_id: '-9223372036854775808' }
  for (;;) {
    const page = await listResults(from, after, PAGE)
    for (const row of page) {
      try {
        await handOverResult(to, row, await textOf(row, keyring))
        count++
      } catch (error) {
        const { code, message } = toCpError(error)
        // A database that is away is no reason to give a result up.
        if (code === 'unavailable' || code === 'timeout') throw error
        kept.push(`${resultRef(row.execution_id, row.name, row.result_id)}: ${message}`)
      }
    }
    const last = page.at(-1)
    if (last === undefined) break
    after = last
  }
  if (kept.length === 0) return count
  throw new CpError(
    'refused',
    `${kept.length} result(s) cannot be handed over (${kept.slice(0, KEPT_SHOWN).join('; ')}); nothing was removed. Give up all results that are not handed over with --discard-results`,
  )
}

const gunzipBytes = promisify(gunzip)

async function textOf(row: StoredResult, keyring: Keyring): Promise<string> {
  const place = resultSealPlace({ executionId: row.execution_id, resultId: row.result_id })
  const packed = row.is_sealed ? keyring.open(Buffer.from(row.data).toString('utf8'), place) : row.data
  return (await gunzipBytes(packed)).toString('utf8')
}
