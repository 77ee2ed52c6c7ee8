// Promise: a one-time code works once, within a minute, and not a moment later.
import { expect, it } from 'vitest'
import { createConsoleCodes } from '../../src/services/access/consoleCodes.js'

it('a code works once and not after 60 s', () => {
  let now = 5_000
  const codes = createConsoleCodes({ monotonic: () => now })
  const [first, second] = [codes.issue('anna'), codes.issue('bert')]
  expect(first.expiresInSeconds).toBe(60)
  now += 59_999
  expect(codes.redeem(first.code)).toBe('anna')
  expect(() => codes.redeem(first.code)).toThrow('one works once, within 60 s')
  now += 1
  expect(() => codes.redeem(second.code)).toThrow('run "noetl-cp console" again')
  expect(() => codes.redeem('made-up')).toThrow('not valid')
})
