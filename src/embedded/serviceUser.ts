// The unprivileged user that runs Postgres when we are root, since Postgres refuses root. Only looks the
// user up; it never creates one.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { CpError } from '../errors.js'

export interface ServiceUser {
  name: string
  uid: number
  gid: number
}

const CANDIDATES = ['postgres', 'nobody']
const LOOKUP_DEADLINE_MS = 5_000

export async function findServiceUser(candidates: readonly string[] = CANDIDATES): Promise<ServiceUser> {
  for (const name of candidates) {
    const uid = await askId('-u', name)
    const gid = await askId('-g', name)
    if (uid !== undefined && uid !== 0 && gid !== undefined) return { name, uid, gid }
  }
  throw new CpError(
    'unavailable',
    `Postgres refuses to run as root and no user named ${candidates.join(' or ')} exists; create one ` +
      '(useradd --system postgres), start noetl-cp as an ordinary user, or name a database with NOETL_DATABASE_URL',
  )
}

async function askId(flag: '-u' | '-g', name: string): Promise<number | undefined> {
  try {
    const { stdout } = await promisify(execFile)('id', [flag, name], { timeout: LOOKUP_DEADLINE_MS })
    const id = Number(stdout.trim())
    return Number.isSafeInteger(id) && id >= 0 ? id : undefined
  } catch {
    return undefined
  }
}
