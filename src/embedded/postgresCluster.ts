// Makes the Postgres cluster at the first start: initdb and the database, in a folder beside its place
// that is moved in only when complete, so a crash on the way leaves nothing half-made. On later starts it
// checks that the programs fit. It must never touch the files of a cluster that exists.

import { randomBytes } from 'node:crypto'
import { open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CpError } from '../errors.js'
import { createFile, hasCode, readIfPresent } from './atomicFile.js'
import type { EmbeddedLog } from './embeddedLog.js'
import { giveAway, removeGivenAway } from './givenAway.js'
import type { LogFile } from './logFile.js'
import { stopOrphans } from './orphans.js'
import type { Placement } from './placement.js'
import type { PostgresBinaries } from './postgresBinaries.js'
import { findProcesses } from './processIdentity.js'
import { runTool } from './runTool.js'

export const DATABASE = 'noetl'
export const SUPERUSER = 'noetl'

export interface ClusterJob {
  place: Placement
  binaries: PostgresBinaries
  password: string
  log: EmbeddedLog
  logFile: LogFile
  signal: AbortSignal | undefined
}

const TOOL_DEADLINE_MS = 120_000
const STAGING_PREFIX = 'data.new-'

// Written to postgresql.conf once, where the owner of the instance may change them.
const INITIAL_SETTINGS = [
  'shared_buffers=128MB',
  'max_connections=200',
  'max_wal_size=2GB',
  'autovacuum_naptime=20s',
  'autovacuum_vacuum_scale_factor=0.1',
  'log_lock_waits=on',
  'log_line_prefix=%m [%p] %q%u@%d ',
]

/** True when the cluster was there before. */
export async function ensureCluster(job: ClusterJob): Promise<boolean> {
  const major = await majorOfPrograms(job)
  const present = await readIfPresent(join(job.place.data, 'PG_VERSION'))
  if (present !== undefined) {
    if (present.trim() === major) return true
    // The folder belongs to another user: what stands in it is not repeated unless it is a number.
    const other = /^\d{1,4}$/.test(present.trim()) ? present.trim() : 'of an unknown version'
    throw new CpError(
      'schema_mismatch',
      `the database in ${job.place.data} was made by Postgres ${other}, but this noetl-cp brings Postgres ${major}; ` +
        'dump it with the noetl-cp that made it and load it into a new data folder, or run it yourself and set NOETL_DATABASE_URL',
    )
  }
  if ((await listFolder(job.place.data)).length > 0) {
    throw new CpError(
      'corrupt',
      `${job.place.data} holds files but is no Postgres cluster (PG_VERSION is missing); restore it from a backup, or move it away`,
    )
  }
  await removeUnfinishedClusters(job)
  await createCluster(job)
  return false
}

/** Sets the password of the superuser without a running server: for when the secrets file was made anew. */
export async function setPassword(job: ClusterJob): Promise<void> {
  await runSql(job, job.place.data, `ALTER ROLE ${SUPERUSER} PASSWORD '${job.password}'`)
}

async function createCluster(job: ClusterJob): Promise<void> {
  const { place, binaries } = job
  job.log('info', 'making a new Postgres cluster', { folder: place.data })
  const staging = join(place.folder, `${STAGING_PREFIX}${randomBytes(4).toString('hex')}`)
  await giveAway(staging, place.user)
  await withPrivateFile(job, job.password, async (passwordFile) => {
    const words = [
      ...['-D', staging, '--username', SUPERUSER, '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
      ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
      ...['--data-checksums', '--no-instructions'],
      ...INITIAL_SETTINGS.flatMap((setting) => ['--set', setting]),
    ]
    await runTool({ ...toolBasics(job), name: 'initdb', program: binaries.initdb, args: words }, job.logFile)
  })
  await runSql(job, staging, `CREATE DATABASE ${DATABASE} OWNER ${SUPERUSER}`)
  await rename(staging, place.data)
  const folder = await open(place.folder, 'r')
  await folder.sync().finally(() => folder.close())
}

/** One statement in single-user mode. The statement comes from a private file: arguments can be seen by others. */
async function runSql(job: ClusterJob, data: string, statement: string): Promise<void> {
  await withPrivateFile(job, `${statement}\n`, async (inputFile) => {
    const args = ['--single', '-D', data, '-c', 'exit_on_error=true', '-c', 'log_min_error_statement=panic', 'postgres']
    await runTool(
      { ...toolBasics(job), name: 'postgres --single', program: job.binaries.postgres, args, inputFile },
      job.logFile,
    )
  })
}

async function withPrivateFile(job: ClusterJob, content: string, use: (path: string) => Promise<void>): Promise<void> {
  const path = join(job.place.folder, `.private-${randomBytes(6).toString('hex')}`)
  await createFile(path, content, job.place.user)
  try {
    await use(path)
  } finally {
    await rm(path, { force: true })
  }
}

async function removeUnfinishedClusters(job: ClusterJob): Promise<void> {
  const names = await listFolder(job.place.folder)
  for (const name of names.filter((name) => name.startsWith('.private-'))) await rm(join(job.place.folder, name))
  for (const name of names.filter((name) => name.startsWith(STAGING_PREFIX))) {
    const staging = join(job.place.folder, name)
    const find = () => ['initdb', 'postgres'].flatMap((program) => findProcesses({ program, argument: staging }))
    const steps = [
      { signal: 'TERM', waitMs: 5_000 },
      { signal: 'KILL', waitMs: 5_000 },
    ] as const
    await stopOrphans({ name: 'an unfinished initdb', leaders: find, everyone: find, steps }, job.log, job.signal)
    await removeGivenAway(staging, job.place.user, job.logFile)
  }
}

/** Also the first proof that the programs run on this machine and for this user. */
async function majorOfPrograms(job: ClusterJob): Promise<string> {
  const spec = { ...toolBasics(job), name: 'postgres --version', program: job.binaries.postgres, args: ['--version'] }
  const output = await runTool(spec, job.logFile).catch((error: unknown) => {
    if (!(error instanceof CpError) || error.code === 'cancelled') throw error
    throw new CpError(
      error.code,
      `the Postgres programs in ${job.binaries.root} do not run here. ${error.message}\n` +
        'They need glibc on Linux; remove that folder and install the dependencies again (npm ci), or name a database with NOETL_DATABASE_URL',
      { cause: error },
    )
  })
  const [, major] = /PostgreSQL\D{0,40}(\d+)/.exec(output) ?? []
  if (major === undefined) throw new CpError('unavailable', `"postgres --version" answered: ${output}`)
  return major
}

function toolBasics(job: ClusterJob) {
  return { user: job.place.user, deadlineMs: TOOL_DEADLINE_MS, signal: job.signal }
}

async function listFolder(path: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}
