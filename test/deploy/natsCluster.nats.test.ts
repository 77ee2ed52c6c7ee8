// Promise: the NATS nodes of compose form a cluster with each other and with nobody else, and no client gets in without
// the token. The configuration is the one that is shipped, on other ports and without names.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'nats'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findNatsServer } from '../../src/embedded/natsBinary.js'
import { freePort } from '../support/freePort.js'
import { until } from '../support/until.js'
import { readText, readYaml } from './deployFiles.js'

interface Node {
  client: number
  monitor: number
  route: number
}

// Numbers, to a reader that does not know better.
const SECRETS = { NATS_TOKEN: '1234567890123456', NATS_CLUSTER_PASSWORD: '12345678e2' }
const { services } = readYaml('deploy/compose/compose.yaml')
const names = Object.keys(services).filter((name) => name.startsWith('nats-'))
const nodes = new Map<string, Node>()
const children: ChildProcess[] = []
let folder: string

/** What compose would give to a service, with the addresses of this test. */
function environmentOf(service: string): Record<string, string> {
  const filled = Object.entries<string>(services[service].environment).map(([name, text]) => {
    const value = text.replace(/\$\{([A-Z_]+)[^}]*\}/g, (_, secret: keyof typeof SECRETS) => SECRETS[secret])
    return [name, value.replace(/(nats-\d):6222/g, (_, node: string) => `127.0.0.1:${nodes.get(node)!.route}`)]
  })
  return Object.fromEntries(filled)
}

async function start(name: string, node: Node, environment: Record<string, string>, change = (text: string) => text) {
  const conf = readText('deploy/compose/nats.conf')
    .replace(/^port: 4222$/m, `listen: "127.0.0.1:${node.client}"`)
    .replace(/^http_port: 8222$/m, `http: "127.0.0.1:${node.monitor}"`)
    .replace(/^ {2}port: 6222$/m, `  listen: "127.0.0.1:${node.route}"`)
    .replace('store_dir: /data', `store_dir: ${join(folder, name)}`)
    // Servers before 2.10 do not know it.
    .replace(/^ *sync_interval: always$/m, '')
  const path = join(folder, `${name}.conf`)
  await writeFile(path, change(conf))
  const program = await findNatsServer(process.env['NOETL_CP_NATS_SERVER'], process.env['PATH'])
  const child = spawn(program, ['-c', path, '-l', join(folder, `${name}.log`)], {
    stdio: 'ignore',
    env: { ...environment, HOSTNAME: name },
  })
  children.push(child)
  await until(`${name} runs`, async () => (await fetch(`http://127.0.0.1:${node.monitor}/varz`)).ok)
}

async function idOf({ monitor }: Node): Promise<string> {
  const varz = (await (await fetch(`http://127.0.0.1:${monitor}/varz`)).json()) as { server_id: string }
  return varz.server_id
}

async function neighbours({ monitor }: Node): Promise<string[]> {
  const answer = await fetch(`http://127.0.0.1:${monitor}/routez`)
  const { routes } = (await answer.json()) as { routes?: { remote_id: string }[] }
  return [...new Set((routes ?? []).map((route) => route.remote_id))].sort()
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-nats-cluster-'))
  for (const name of [...names, 'stranger'])
    nodes.set(name, { client: await freePort(), monitor: await freePort(), route: await freePort() })
  await Promise.all(names.map((name) => start(name, nodes.get(name)!, environmentOf(name))))
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

it('joins the three with each other', async () => {
  for (const name of names) {
    const others = names.filter((other) => other !== name).map((other) => idOf(nodes.get(other)!))
    const expected = String((await Promise.all(others)).sort())
    await until(`${name} sees the others`, async () => String(await neighbours(nodes.get(name)!)) === expected)
  }
})

it('joins nobody who does not know the password', async () => {
  const own = environmentOf(names[0]!)
  const stranger = nodes.get('stranger')!
  const guessed = { ...own, NATS_ROUTES: own['NATS_ROUTES']!.replaceAll(SECRETS.NATS_CLUSTER_PASSWORD, 'guessed') }
  await start('stranger', stranger, guessed)
  // It asks for 127.0.0.1 again and again: by then the others have turned it away.
  const log = () => readFile(join(folder, `${names[0]}.log`), 'utf8')
  await until('it was turned away', async () => /authentication error|authorization violation/i.test(await log()))
  for (const name of names) expect(await neighbours(nodes.get(name)!)).toHaveLength(2)
  expect(await neighbours(stranger)).toEqual([])
})

it('lets no client in without the token', async () => {
  const servers = `127.0.0.1:${nodes.get(names[0]!)!.client}`
  await expect(connect({ servers, reconnect: false })).rejects.toMatchObject({ code: 'AUTHORIZATION_VIOLATION' })
  const client = await connect({ servers, token: SECRETS.NATS_TOKEN, reconnect: false })
  await client.close()
})
