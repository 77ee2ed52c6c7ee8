// A client as a worker of NoETL is one: it talks to any daemon that is there, and repeats what it got no answer to.
// It notes what no client should ever see: a 500, and a call that never ends.
import type { LabDaemon } from './daemons.js'
import type { Journal } from './journal.js'
import type { Ledger } from './ledger.js'
import type { Random } from './random.js'
import { INTERNAL_TOKEN } from './site.js'

export interface Answer {
  status: number
  body: any
  text: string
  headers: Headers
  daemon: string
}

export interface Client {
  /** Undefined: no answer, so the outcome is unknown. */
  once(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer | undefined>
  /** Again and again, until there is an answer other than "try again". */
  insist(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer>
}

export interface ClientOptions {
  daemons: readonly LabDaemon[]
  random: Random
  ledger: Ledger
  journal: Journal
}

/** Far beyond the sum of the daemon's own deadlines. */
const HUNG_MS = 90_000
const INSIST_MS = 300_000
const PAUSE_MS = 100

export function createClient({ daemons, random, ledger, journal }: ClientOptions): Client {
  async function once(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer | undefined> {
    const alive = daemons.filter((daemon) => daemon.running() !== undefined)
    if (alive.length === 0) return undefined
    const daemon = random.pick(alive)
    const url = new URL(path, daemon.running()!.url)
    const before = daemon.interruptions()
    ledger.counts.requests += 1
    try {
      const response = await fetch(url, {
        method,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${INTERNAL_TOKEN}` },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(HUNG_MS),
      })
      const text = await response.text()
      if (response.status === 500) {
        const message = `${method} ${path} answered 500; the log of daemon ${daemon.name}: ${lastFailure(daemon)}`
        journal.report({ invariant: 'I8', kind: 'internal error', message })
      }
      return { status: response.status, text, body: parse(text), headers: response.headers, daemon: daemon.name }
    } catch (error) {
      if ((error as Error).name === 'TimeoutError' && daemon.interruptions() === before) {
        journal.report({
          invariant: 'I8',
          kind: 'hung',
          message: `${method} ${path} got no answer within ${HUNG_MS / 1000} s from daemon ${daemon.name}`,
        })
      }
      return undefined
    }
  }

  async function insist(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer> {
    const deadline = performance.now() + INSIST_MS
    for (;;) {
      const answer = await once(method, path, body)
      if (answer !== undefined && answer.status < 500) return answer
      if (performance.now() > deadline) {
        const last = answer === undefined ? 'no answer' : `${answer.status} ${answer.text.slice(0, 300)}`
        journal.report({
          invariant: 'I8',
          kind: 'stuck',
          message: `${method} ${path} did not get through in ${INSIST_MS / 1000} s; last: ${last}`,
        })
        throw new Error(`gave up on ${method} ${path}`)
      }
      ledger.counts.retries += 1
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * (0.5 + random.next())))
    }
  }
  return { once, insist }
}

function lastFailure(daemon: LabDaemon): string {
  const running = daemon.running()
  const lines = `${running?.stdout() ?? ''}\n${running?.stderr() ?? ''}`.split('\n')
  return lines.findLast((line) => line.includes('request failed'))?.slice(0, 2_000) ?? 'nothing'
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
