// Promise: a start that cannot succeed says so at once, with an exit code of its own, and leaves nothing behind.
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import net from 'node:net'
import { dirname, join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { type Connection, type ConnectionSettings, createConnection } from '../../src/db/connection.js'
import { applyMigrations } from '../../src/db/migrations.js'
import { statement } from '../../src/db/queries.js'
import { startEmbedded } from '../../src/embedded/startEmbedded.js'
import { adminSettings } from '../support/adminSql.js'
import { runBinary } from '../support/binary.js'
import { newDataFolder, removeDataFolders } from '../support/dataFolder.js'
import type { TestServers } from '../support/servers.js'
import { API_TOKEN } from '../support/tokens.js'

afterEach(removeDataFolders)

it.runIf(process.platform === 'linux')('a data folder that cannot be made ends the start', async () => {
  for (const place of ['/proc/noetl-cp/data', '/dev/null/data']) {
    const ended = await runBinary(['serve', '--port', '0', '--data-dir', place])
    expect(ended).toMatchObject({ code: 78, signal: null, stdout: '' })
    expect(ended.stderr).toContain(`the data folder ${place} cannot be used`)
    expect(ended.stderr).toContain('--data-dir')
  }
})

it('a port in use is found before a database is made', async () => {
  const folder = await newDataFolder()
  const holder = net.createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => holder.once('listening', resolve))
  try {
    const { port } = holder.address() as net.AddressInfo
    const ended = await runBinary(['serve', '--port', String(port), '--data-dir', folder])
    expect(ended).toMatchObject({ code: 4, stderr: expect.stringContaining(`port ${port} of 127.0.0.1 is taken`) })
    expect(existsSync(folder)).toBe(false)
  } finally {
    holder.close()
  }
})

it('so are an address of another machine and a certificate that is none', async () => {
  const folder = await newDataFolder()
  const elsewhere = await runBinary(['serve', '--port', '0', '--data-dir', folder, '--host', '192.0.2.1'], {
    env: { NOETL_API_TOKEN: API_TOKEN },
  })
  expect(elsewhere).toMatchObject({ code: 4, stderr: expect.stringContaining('192.0.2.1 is not an address') })
  const pem = join(dirname(folder), 'cert.pem')
  await mkdir(dirname(folder), { recursive: true })
  await writeFile(pem, 'nothing of the kind')
  const noCert = await runBinary(['serve', '--port', '0', '--data-dir', folder], {
    env: { NOETL_TLS_CERT: pem, NOETL_TLS_KEY: pem },
  })
  expect(noCert).toMatchObject({ code: 78, stderr: expect.stringContaining(pem) })
  expect(existsSync(folder)).toBe(false)
})

it('a data folder of an earlier build is refused with a sentence and left as it was', async () => {
  const folder = await newDataFolder()
  const servers = () =>
    startEmbedded({
      dataDir: folder,
      postgresPort: undefined,
      natsPort: undefined,
      natsServerPath: process.env['NOETL_CP_NATS_SERVER'],
      pathEnv: process.env['PATH'],
      version: 'earlier',
      log: () => undefined,
    })
  const HISTORY = statement(
    `select string_agg(concat_ws(' ', version, name, checksum, applied_at), ',' order by version) as history from noetl.cp_migration`,
  )
  const visit = async (prepare: (connection: Connection, settings: ConnectionSettings) => Promise<void>) => {
    const running = await servers()
    const settings = adminSettings({ databaseUrl: running.databaseUrl } as TestServers, 'noetl')
    const connection = createConnection(settings)
    try {
      await prepare(connection, settings)
      return await connection.run(HISTORY, [], 10_000)
    } finally {
      await connection.close(1_000)
      await running.stop(15_000)
    }
  }
  const before = await visit(async (connection, settings) => {
    await applyMigrations(settings, { upTo: 1 })
    await connection.script("insert into noetl.cp_migration values (2, 'first_steps', 'x')", 10_000)
  })
  const ended = await runBinary(['serve', '--port', '0', '--data-dir', folder])
  expect(ended).toMatchObject({ code: 78, stderr: expect.stringContaining('was made by an earlier build of noetl-cp') })
  expect(await visit(async () => undefined)).toEqual(before)
})
