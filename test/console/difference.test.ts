// Promise: two values of which anything is different differ somewhere; where, the JSON pointers say.
import { expect, it } from 'vitest'
import { consoleModule } from '../support/consoleModule.js'

const { differencesOf } = await consoleModule('lib/difference.ts')
const { parseJson } = await consoleModule('lib/losslessJson.ts')

const pointers = (from: string, to: string) =>
  differencesOf(parseJson(from), parseJson(to), '').map(({ pointer }: { pointer: string }) => pointer)

it.each([
  ['{"a": [1, 2], "b": {}}', '{"b": {}, "a": [1, 2]}', []],
  ['{"a/b": {"~": 1}}', '{"a/b": {"~": 2}}', ['/a~1b/~0']],
  ['{"n": 9007199254740993}', '{"n": 9007199254740992}', ['/n']],
  // A list is no object, although its places may have the same names.
  ['{"a": [1]}', '{"a": {"0": 1}}', ['/a']],
  ['{"a": []}', '{"a": {}}', ['/a']],
  ['{"a": null}', '{"a": {"b": null}}', ['/a']],
])('of %s and %s: %j', (from, to, expected) => {
  expect(pointers(from, to)).toEqual(expected)
})
