// Promise: an answer is pressed for whoever says that it takes that, and for nobody else.
import { expect, it } from 'vitest'
import { acceptsGzip } from '../../src/http/acceptsGzip.js'

it.each(['gzip', 'deflate, gzip', 'GZIP;q=0.5', 'br;q=1.0, gzip; q=0.001, *;q=0', 'gzip;q=1'])('%s', (accepted) => {
  expect(acceptsGzip({ 'accept-encoding': accepted })).toBe(true)
})

it.each(['', 'identity', 'x-gzip-not', 'gzip;q=0', 'br, gzip ; q=0.000', 'gzipped'])('not %s', (accepted) => {
  expect(acceptsGzip({ 'accept-encoding': accepted })).toBe(false)
  expect(acceptsGzip({})).toBe(false)
})
