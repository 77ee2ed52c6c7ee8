// Promise: `noetl-cp demo` runs playbooks of every kind that end as announced; each command
// that it recommends works as printed; it leaves an instance with work of its own alone; `--end` ends what is open.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BINARY, type Daemon, type Finished, runBinary, startDaemon } from '../support/binary.js'
import { playbook } from '../support/core.js'
import { useDatabase } from '../support/database.js'
import { countBy } from '../support/outboxRows.js'
import { type TestStream, useStream } from '../support/stream.js'
import { API_TOKEN } from '../support/tokens.js'
import { until } from '../support/until.js'

const database = useDatabase()
let stream: TestStream
let daemon: Daemon
let env: Record<string, string>
let made: {
  executions: { execution_id: string; path: string; status: string }[]
  subscription_id: string
  next: string[]
}

beforeAll(async () => {
  stream = await useStream(database.servers())
  env = { NOETL_DATABASE_URL: database.get().url, NOETL_API_TOKEN: API_TOKEN, ...stream.env }
  daemon = await startDaemon([], { env })
  env['NOETL_PORT'] = new URL(daemon.url).port
})
afterAll(async () => {
  await daemon?.stop('SIGKILL')
  await stream?.close()
})

const run = (args: string[]) => runBinary(args, { env, timeoutMs: 90_000 })
/** The line as printed: the program as it was called, then its arguments. */
const argumentsOf = (line: string) => {
  expect(line.startsWith(`node ${BINARY} `), line).toBe(true)
  return line.slice(`node ${BINARY} `.length).split(' ')
}

describe('noetl-cp demo', () => {
  it('makes executions that are as it says, and publishes their events', async () => {
    const result = await run(['demo', '--json'])
    expect(result, result.stderr).toMatchObject({ code: 0, stderr: '' })
    made = JSON.parse(result.stdout)
    expect(made.executions.map(({ status }) => status).sort()).toEqual(
      ['CANCELLED', 'COMPLETED', 'COMPLETED', 'COMPLETED', 'COMPLETED', 'FAILED', 'RUNNING'].sort(),
    )
    for (const { execution_id, path, status } of made.executions) {
      const { body } = await daemon.get(`/api/executions/${execution_id}`, { authorization: `Bearer ${API_TOKEN}` })
      expect(body).toMatchObject({ path, status })
    }
    await until('all is published', async () => {
      const counts = await countBy(database.get())
      return Object.keys(counts).join() === 'PUBLISHED' && counts
    })
    expect((await run(['replay', 'verify', '--all'])).code).toBe(0)
  })

  it('prints commands that work as they stand', async () => {
    expect(made.next.length).toBeGreaterThan(5)
    const results: ({ line: string } & Finished)[] = []
    for (const line of made.next.filter((text) => !text.endsWith('--end')))
      results.push({ line, ...(await run(argumentsOf(line))) })
    // A diff that finds differences says so by 5.
    for (const { line, code, stderr } of results) expect([0, 5], `${line}\n${stderr}`).toContain(code)
    const stuck = results.find(({ line }) => line.includes('why-stuck'))!
    expect(stuck.stdout).toMatch(/demo-nobody/)
    const loop = results.find(({ line }) => /replay \d+$/.test(line))!
    expect(loop.stdout).toMatch(/resize +│ done +│ \d+ +│ 6\/6 /)
    const watched = results.find(({ line }) => line.includes('execution watch'))!
    expect(watched.stderr).toMatch(/each_day +playbook x3 +ok .*3 done/)
  })

  it('--end cancels the stuck one and deactivates the subscription', async () => {
    const result = await run(['demo', '--end', '--json'])
    expect(result, result.stderr).toMatchObject({ code: 0 })
    const stuck = made.executions.find(({ status }) => status === 'RUNNING')!
    expect(JSON.parse(result.stdout)).toEqual({
      cancelled: [stuck.execution_id],
      deactivated: [made.subscription_id],
    })
    expect((await run(['demo', '--end'])).stdout).toContain('0 execution(s) cancelled, 0 subscription(s) deactivated')
  })

  it('leaves an instance with executions of its own alone, unless it may', async () => {
    const call = (path: string, body: object) =>
      fetch(new URL(path, daemon.url), {
        method: 'POST',
        headers: { authorization: `Bearer ${API_TOKEN}` },
        body: JSON.stringify(body),
      })
    await call('/api/catalog/register', { content: playbook('real/work') })
    await call('/api/execute', { path: 'real/work' })
    const refused = await run(['demo'])
    expect(refused.code).toBe(4)
    expect(refused.stderr).toMatch(/has executions of its own, such as \d+ \(real\/work\); add --yes/)
    const allowed = await run(['demo', '--yes'])
    expect(allowed, allowed.stderr).toMatchObject({ code: 0 })
    expect(allowed.stdout).toContain(`Try next:\n  # all of them\n  node ${BINARY} execution list\n`)
  })

  it('says what is wrong: a token that is not taken, a daemon that does not answer', async () => {
    const forbidden = await runBinary(['demo'], { env: { ...env, NOETL_API_TOKEN: 'token-of-another-daemon' } })
    expect(forbidden.code).toBe(4)
    expect(forbidden.stderr).toContain('was answered with 403')
    expect(forbidden.stderr).toContain('set NOETL_API_TOKEN to its token')
    const away = await runBinary(['demo'], { env: { ...env, NOETL_PORT: '1' } })
    expect(away.code).toBe(69)
    expect(away.stderr).toContain('does not answer')
  })
})
