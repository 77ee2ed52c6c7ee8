// The migrated schema equals sql/schema.json, which doctor compares live databases with. `make schema` rewrites it.
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { describeSchema } from '../../src/stores/health/doctorStore.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()
const FILE = new URL('../../sql/schema.json', import.meta.url)

it('sql/schema.json describes what the migrations make', async () => {
  const { tables, indexes, invalidIndexes } = await describeSchema(database.get().db)
  const text = `${JSON.stringify({ tables, indexes }, null, 2)}\n`
  if (process.env['UPDATE_SCHEMA'] === '1') writeFileSync(FILE, text)
  expect(readFileSync(FILE, 'utf8')).toBe(text)
  expect(invalidIndexes).toEqual([])
})
