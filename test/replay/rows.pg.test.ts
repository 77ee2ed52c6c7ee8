// Promise: what Postgres packs into the text of an array comes out unchanged, whatever the texts hold.
import { describe, expect, it } from 'vitest'
import { parseArrayText } from '../../src/stores/replayRows.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()

const ODD = [
  '',
  'plain',
  'NULL',
  'null',
  'a,b',
  '{x}',
  'say "hi"',
  'back\\slash',
  '\\"',
  ' lead',
  'tab\t',
  'line\nbreak',
  'é😀',
  "it's",
]

describe('the text of an array', () => {
  it.each(ODD)('holding %j reads back', async (text) => {
    for (const neighbour of [null, text, 'x']) {
      const [row] = await database
        .get()
        .sql<{ words: string }>('select array[$1::text, $2::text, $3::text, null]::text as words', [
          text,
          neighbour,
          'last',
        ])
      expect(parseArrayText(row!.words)).toEqual([text, neighbour, 'last', null])
    }
  })

  it('of numbers reads back', async () => {
    const [row] = await database
      .get()
      .sql<{ ids: string }>('select array[7, null, (-9223372036854775808)::bigint]::text as ids')
    expect(parseArrayText(row!.ids)).toEqual(['7', null, '-9223372036854775808'])
  })
})
