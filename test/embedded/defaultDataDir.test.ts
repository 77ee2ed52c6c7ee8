// Promise: the data folder is the same from any working folder.

import { describe, expect, it } from 'vitest'
import { defaultDataDir } from '../../src/embedded/defaultDataDir.js'

describe('defaultDataDir', () => {
  it.each([
    [{ uid: 0, home: '/root', xdgDataHome: '/root/data' }, '/var/lib/noetl-cp'],
    [{ uid: 1000, home: '/home/a', xdgDataHome: undefined }, '/home/a/.local/share/noetl-cp'],
    [{ uid: 1000, home: '/home/a', xdgDataHome: '/data/a' }, '/data/a/noetl-cp'],
    [{ uid: 1000, home: '/home/a', xdgDataHome: 'relative' }, '/home/a/.local/share/noetl-cp'],
    [{ uid: 1000, home: '/home/a', xdgDataHome: '' }, '/home/a/.local/share/noetl-cp'],
  ])('%j → %s', (places, expected) => {
    expect(defaultDataDir(places)).toBe(expected)
  })

  it('says which setting to use when there is no home', () => {
    const call = () => defaultDataDir({ uid: 1000, home: undefined, xdgDataHome: undefined })
    expect(call).toThrow(/NOETL_CP_DATA_DIR/)
  })
})
