// Where the browser of the tests is, and what to do where there is none.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']

export const INSTALL_CHROMIUM = 'sudo apt-get install -y chromium'

/** Undefined if this machine has none. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = env['NOETL_TEST_CHROMIUM']
  const places = (env['PATH'] ?? '').split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)))
  return [...(named === undefined || named === '' ? [] : [named]), ...places].find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
