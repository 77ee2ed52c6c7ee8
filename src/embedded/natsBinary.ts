// Finds the nats-server program: the one named by a setting, then PATH, then the folders where packages
// put servers although an ordinary user's PATH leaves them out. It never downloads or installs anything.

import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, chmod, copyFile, rename, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { CpError } from '../errors.js'
import { makeFolder, makeTrustedFolder } from './dataFolder.js'
import { PASSABLE_DIR_MODE } from './givenAway.js'
import { findBarrier, PASS, READ } from './reachable.js'
import type { ServiceUser } from './serviceUser.js'

/** After PATH; the last resort is what scripts/ensure-nats-server.sh unpacked into the data folder. */
export const USUAL_FOLDERS = ['/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/usr/sbin', '/opt/homebrew/bin']

export async function findNatsServer(
  named: string | undefined,
  pathEnv: string | undefined,
  usualFolders: readonly string[] = USUAL_FOLDERS,
): Promise<string> {
  if (named !== undefined && named !== '') {
    if (await isProgram(named)) return named
    throw new CpError(
      'config',
      `${named}, named as the nats-server program, is not an executable file; correct NOETL_CP_NATS_SERVER, or unset it to search PATH`,
    )
  }
  const folders = (pathEnv ?? '').split(':').filter((folder) => isAbsolute(folder))
  for (const folder of [...folders, ...usualFolders]) {
    const candidate = join(folder, 'nats-server')
    if (await isProgram(candidate)) return candidate
  }
  throw new CpError(
    'unavailable',
    [
      'nats-server is not installed. Run the one command for your system, then try again:',
      '  Debian, Ubuntu:  sudo apt-get install -y nats-server && sudo systemctl disable --now nats-server',
      '  macOS:           brew install nats-server',
      '  others:          download https://github.com/nats-io/nats-server/releases and put it on PATH,',
      '                   or name it with NOETL_CP_NATS_SERVER=/path/to/nats-server',
      'To use a NATS that runs elsewhere, set NOETL_NATS_URL.',
    ].join('\n'),
  )
}

/** A program that the user cannot start where it is, is copied to where it can. */
export async function reachableNatsServer(
  program: string,
  user: ServiceUser | undefined,
  copyRoot: string,
): Promise<string> {
  if (user === undefined || (await findBarrier(program, user, READ | PASS)) === undefined) return program
  const { size, mtimeMs } = await stat(program)
  const mark = createHash('sha256').update(`${program} ${size} ${mtimeMs}`).digest('hex').slice(0, 16)
  const copy = join(copyRoot, `nats-server-${mark}`, 'nats-server')
  await makeTrustedFolder(copyRoot, PASSABLE_DIR_MODE, true)
  if (await isProgram(copy)) return copy
  await makeFolder(dirname(copy), PASSABLE_DIR_MODE)
  const beside = `${copy}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`
  await copyFile(program, beside)
  await chmod(beside, 0o755)
  await rename(beside, copy)
  return copy
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}
