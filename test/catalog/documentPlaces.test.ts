// Promise: a problem is marked where its key stands, what is missing where it is missing, a mistake of the text where it is.
import { expect, it } from 'vitest'
import { placesIn } from '../../src/domain/catalog/documentPlaces.js'

const TEXT = `kind: Playbook
metadata: {path: a/b}
workflow:
  - step: one
    "a/b~c":
      deep: 1
  - &two
    step: two
  - *two
`

it('finds keys, items, and the nearest thing around what is not there', () => {
  const wanted: [string, number, number][] = [
    ['', 1, 1],
    ['/kind', 1, 1],
    ['/metadata/path', 2, 12],
    ['/metadata/name', 2, 1],
    ['/workflow/0', 4, 5],
    ['/workflow/0/a~1b~0c/deep', 6, 7],
    ['/workflow/0/next', 4, 5],
    ['/workflow/1/step', 8, 5],
    ['/workflow/7', 3, 1],
  ]
  const places = placesIn(
    TEXT,
    wanted.map(([pointer]) => pointer),
  )
  expect(places).toEqual(wanted.map(([, line, column]) => ({ line, column })))
  expect(placesIn(Buffer.from(TEXT).toString('base64'), ['/metadata'])).toEqual([{ line: 2, column: 1 }])
})

it('of what was merged is the map that it was merged into', () => {
  const text = 'base: &b {kind: noop}\nworkflow:\n  - step: one\n    tool:\n      <<: *b\n      <: 1\n'
  expect(placesIn(text, ['/workflow/0/tool/kind', '/workflow/0/tool/<<', '/workflow/0/tool/<'])).toEqual([
    { line: 4, column: 5 },
    { line: 5, column: 7 },
    { line: 6, column: 7 },
  ])
})

it('of a text that cannot be read are the places of its mistakes, and of nothing there is none', () => {
  expect(placesIn('a: 1\nb: [1, 2\nc: "x', ['', ''])).toEqual([
    { line: 3, column: expect.any(Number) },
    { line: 3, column: expect.any(Number) },
  ])
  expect(placesIn('', [''])).toEqual([null])
})
