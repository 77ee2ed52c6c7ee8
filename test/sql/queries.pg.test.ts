// Every named query can be prepared on a migrated database: unknown columns and wrong types are found here.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Connection, createConnection } from '../../src/db/connection.js'
import { allQueries } from '../../src/db/queries.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()
let connection: Connection

beforeAll(() => {
  connection = createConnection(database.get().settings)
})
afterAll(() => connection.close(1_000))

describe('named queries', () => {
  it.each([...allQueries().values()])('$name can be prepared', async (query) => {
    await connection.script(`prepare "q_${query.name}" as ${query.text}`, 5_000)
    expect(connection.isBroken()).toBe(false)
  })
})
