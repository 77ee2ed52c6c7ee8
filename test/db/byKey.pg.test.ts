// Promise: transactions that find their rows by key make their plans once, and never read a whole table, however small it was when
// the plan was made; nobody else is bound by that.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Db, Queryable } from '../../src/db/db.js'
import { createPool } from '../../src/db/pool.js'
import { queries, statement } from '../../src/db/queries.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()
let pool: Db

beforeAll(() => {
  pool = createPool({ ...database.get().settings, max: 1, acquireTimeoutMs: 5_000, queryTimeoutMs: 5_000 })
})
afterAll(() => pool.close(1_000))

const SHOW = statement('show plan_cache_mode')

async function modeOf(db: Queryable): Promise<string> {
  const [row] = await db.run<{ plan_cache_mode: string }>(SHOW)
  return row!.plan_cache_mode
}

describe('a transaction by key', () => {
  it('keeps its plans, and leaves the connection as it was', async () => {
    const before = await modeOf(pool)
    expect(await pool.tx(modeOf, { byKey: true })).toBe('force_generic_plan')
    expect(await modeOf(pool)).toBe(before)
    expect(await pool.tx(modeOf)).toBe(before)
  })

  it('is all or nothing', async () => {
    const failing = pool.tx(
      async (tx) => {
        await tx.run(statement('create table by_key (n int)'))
        throw new Error('mine')
      },
      { byKey: true },
    )
    await expect(failing).rejects.toThrow('mine')
    const [row] = await pool.run<{ found: string | null }>(statement(`select to_regclass('by_key')::text as found`))
    expect(row).toEqual({ found: null })
  })

  // The database is new: every table is empty, which is when reading it whole looks cheapest.
  it('reads no table whole, in any statement of an append or a decision', async () => {
    const named = queries(
      'event_existing',
      'event_highest',
      'event_claims',
      'execution_lock',
      'execution_update',
      'execution_update_one',
      'execution_expect_command',
      'command_named',
      'command_change',
      'command_change_one',
      'command_cancel',
      'decision_reserve',
      'decision_follow',
      'decision_release',
      'lease_fence',
    )
    const whole = await pool.tx(
      async (tx) => {
        const found: string[] = []
        for (const { name, text } of Object.values(named)) {
          await tx.run(statement(`prepare "k_${name}" as ${text}`))
          const parameters = new Set(text.match(/\$\d+/g))
          const values = [...parameters].map(() => 'null').join(', ')
          const rows = await tx.run<Record<string, string>>(statement(`explain execute "k_${name}" (${values})`))
          for (const row of rows)
            if (/Seq Scan on (?!given)/.test(row['QUERY PLAN']!)) found.push(`${name}: ${row['QUERY PLAN']}`)
        }
        return found
      },
      { byKey: true },
    )
    expect(whole).toEqual([])
  })

  it('opens one partition for a command of one execution', async () => {
    const named = queries('execution_expect_command', 'command_change_one')
    const opened = await pool.tx(
      async (tx) => {
        const found: Record<string, number> = {}
        for (const { name, text } of Object.values(named)) {
          await tx.run(statement(`prepare "o_${name}" as ${text}`))
          const values = [...new Set(text.match(/\$\d+/g))].map(() => `'1'`).join(', ')
          const rows = await tx.run<Record<string, string>>(statement(`explain execute "o_${name}" (${values})`))
          const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
          found[name] = new Set(plan.match(/ on command_p\d+/g)).size
        }
        return found
      },
      { byKey: true },
    )
    expect(opened).toEqual({ execution_expect_command: 1, command_change_one: 1 })
  })
})

describe('a query by key', () => {
  const byKey = (text: string) => ({ ...statement(text), planByKey: true })

  it('is planned as in a transaction by key, and leaves the connection as it was', async () => {
    const before = await modeOf(pool)
    const [row] = await pool.run<{ plan_cache_mode: string }>(byKey('show plan_cache_mode'))
    expect(row!.plan_cache_mode).toBe('force_generic_plan')
    expect(await modeOf(pool)).toBe(before)
  })

  it('that fails says why, and leaves the connection as it was', async () => {
    const before = await modeOf(pool)
    await expect(pool.run(byKey('select 1 / 0'))).rejects.toThrow('division by zero')
    expect(await modeOf(pool)).toBe(before)
    expect(await pool.tx(modeOf)).toBe(before)
  })

  it('changes nothing', async () => {
    await expect(pool.run(byKey('create table by_key (n int)'))).rejects.toThrow('read-only')
  })
})
