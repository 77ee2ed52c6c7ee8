// Promise: parameters of a query are numbered by the list beside its name, and a list that does not fit the text is
// found when the program starts.
import { describe, expect, it } from 'vitest'
import { parseBlocks } from '../../src/db/queries.js'

const only = (source: string) => parseBlocks(source)[0]!

describe('a query', () => {
  it('gets the number of each parameter from its place in the list, wherever and however often it is used', () => {
    expect(
      only(`-- name: some(kind, owner)
-- Says what it does.
select * from t where owner = :owner::text and kind = :kind::text or kind = any(array[:kind]);
`),
    ).toEqual({
      name: 'some',
      text: 'select * from t where owner = $2::text and kind = $1::text or kind = any(array[$1])',
    })
  })
  it('keeps casts and quoted texts as they are', () => {
    expect(only(`-- name: some(at)\nselect to_char(:at::timestamptz, 'HH:mi:ss :at'), 1::int\n`).text).toBe(
      `select to_char($1::timestamptz, 'HH:mi:ss :at'), 1::int`,
    )
  })
  it('may name the statuses that end an execution, of which there is one list', () => {
    expect(only(`-- name: some\nselect 1 where status in (:TERMINAL_STATUSES)\n`).text).toBe(
      `select 1 where status in ('COMPLETED', 'FAILED', 'CANCELLED')`,
    )
  })
  it('may list its parameters over several lines, or have none', () => {
    const [long, none] = parseBlocks(`-- name: long(
--   first, second,
--   third
-- )
-- plan: each time
select :third, :first, :second;

-- name: none
-- plan: by key
select 1;
`)
    expect(long).toEqual({ name: 'long', text: 'select $3, $1, $2', planEachTime: true })
    expect(none).toEqual({ name: 'none', text: 'select 1', planByKey: true })
  })
  it('may share a part with others of its file, which brings its own parameters', () => {
    const shared = `-- part: WHO(owner, kind)
-- Whose.
owner = :owner and kind = :kind;

-- name: list(WHO, after)
select * from t where :WHO and id > :after;

-- name: count(least, WHO)
-- plan: each time
select count(*) from t where :WHO having count(*) > :least;
`
    expect(parseBlocks(shared)).toEqual([
      { name: 'list', text: 'select * from t where owner = $1 and kind = $2 and id > $3' },
      {
        name: 'count',
        text: 'select count(*) from t where owner = $2 and kind = $3 having count(*) > $1',
        planEachTime: true,
      },
    ])
  })
  it.each([
    ['a parameter that is not listed', '-- name: some(a)\nselect :a, :b\n', 'query some has no parameter b'],
    ['a constant that does not exist', '-- name: some\nselect :NO_SUCH\n', 'query some has no parameter NO_SUCH'],
    [
      'an unknown way to plan',
      '-- name: some\n-- plan: never\nselect 1\n',
      'query some has an unknown way to plan: never',
    ],
    [
      'a part it does not list',
      '-- part: WHO(a)\na = :a\n\n-- name: some\nselect :WHO\n',
      'query some has no parameter a',
    ],
    ['a parameter that is not used', '-- name: some(a, b)\nselect :a\n', 'query some does not use b'],
    ['a number for a parameter', '-- name: some(a)\nselect :a, $1\n', 'query some has $1: give it a name'],
    ['no text', '-- name: some\n-- Only words.\n', 'query some is empty'],
    ['no name', '-- name: (a)\nselect :a\n', 'a query has no readable name'],
  ])('with %s stops the program', (_, source, message) => {
    expect(() => parseBlocks(source)).toThrow(message)
  })
})
