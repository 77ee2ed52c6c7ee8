// A module of the console for tests that need no browser: with as much of a page as modules look at when they are loaded.
import { afterAll, vi } from 'vitest'

/** By its path below console/src. Its imports are those of a browser, which the compiler of the tests does not follow. */
export function consoleModule(path: string): Promise<any> {
  vi.stubGlobal('document', { documentElement: { dataset: {} } })
  vi.stubGlobal('window', { location: { pathname: '/console/' } })
  afterAll(() => void vi.unstubAllGlobals())
  return import(new URL(`../../console/src/${path}`, import.meta.url).href)
}
