// Promise: a short command reads the files it needs and not the whole program; what it reads decides how long it takes.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const BINARY = fileURLToPath(new URL('../../bin/noetl-cp.js', import.meta.url))
const LOADED = fileURLToPath(new URL('./preload/loadedFiles.mjs', import.meta.url))

/** The modules of ours and of packages that a command loads; the files of the bundle name what is inside. */
function loadedBy(...args: string[]): string[] {
  const ran = spawnSync(process.execPath, ['--import', LOADED, BINARY, ...args], { encoding: 'utf8', timeout: 120_000 })
  expect(ran.status, ran.stderr).toBe(0)
  const files = ran.stderr.split('\n').flatMap((line) => (line.startsWith('loaded ') ? [line.slice(7)] : []))
  return files.flatMap((file) => [file, ...(readFileSync(new URL(file), 'utf8').match(/^\/\/#region .+$/gm) ?? [])])
}

it.each([
  ['--version'],
  ['--help'],
  ['id', 'inspect', '320816801799737345'],
  ['config', 'show'],
  ['completion', '--help'],
])('noetl-cp %s %s %s loads neither a web server, a broker client nor a database driver', (...args) => {
  const loaded = loadedBy(...args)
  expect(loaded.length).toBeGreaterThan(10)
  expect(
    loaded.filter((line) => /node_modules\/(fastify|nats|postgres|piscina|pino|prom-client)\//.test(line)),
  ).toEqual([])
})
