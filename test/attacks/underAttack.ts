// Attacks a running daemon and tells what it cost: how long others waited for /livez, and how much memory it took.
// The bounds are those of docs/security.md: /livez at most ten times as slow as in the calm part of the same run (or
// half a second, whichever is more), memory by no more than the test allows. What other processes take of the machine meanwhile is
// not counted, see livezProbe.mjs.
import { readFileSync } from 'node:fs'
import net from 'node:net'
import { Worker } from 'node:worker_threads'
import { expect } from 'vitest'
import type { Daemon } from '../support/binary.js'
import { until } from '../support/until.js'

const CALM_PROBES = 40
const PROBE_EVERY_MS = 15
const PROBE_TIMEOUT_MS = 20_000
const SLOWER_MAX = 10
const ALWAYS_ALLOWED_MS = 500
const MEMORY_EVERY_MS = 20
const TRIES = 5

export interface Cost {
  calmMs: number
  worstMs: number
  grownMb: number
}

/**
 * Runs the attack while somebody else keeps asking /livez, and holds its cost to the bounds. A busy machine only adds to
 * what is measured, so the best of several counts; memory is compared with what it was before the first.
 */
export async function expectUnmoved(daemon: Daemon, grownMbMax: number, attack: () => Promise<void>): Promise<void> {
  const before = memoryMb(daemon.pid)
  for (let tries = 1; ; tries++) {
    const { calmMs, worstMs, grownMb } = await costOf(daemon, before, attack)
    const allowedMs = Math.max(SLOWER_MAX * calmMs, ALWAYS_ALLOWED_MS)
    if (worstMs > allowedMs && tries < TRIES) continue
    expect(worstMs, `the slowest /livez, ${calmMs.toFixed(0)} ms in the calm part`).toBeLessThan(allowedMs)
    expect(grownMb, 'growth of memory in MB').toBeLessThan(grownMbMax)
    return
  }
}

async function costOf(daemon: Daemon, beforeMb: number, attack: () => Promise<void>): Promise<Cost> {
  const probe = new Worker(new URL('./livezProbe.mjs', import.meta.url), {
    workerData: { url: daemon.url, pid: daemon.pid, everyMs: PROBE_EVERY_MS, timeoutMs: PROBE_TIMEOUT_MS },
  })
  const times = () =>
    new Promise<number[]>((resolve) => {
      probe.once('message', resolve)
      probe.postMessage('tell')
    })
  let peakMb = beforeMb
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, memoryMb(daemon.pid))
  }, MEMORY_EVERY_MS)
  try {
    const calm: number[] = []
    await until('the calm part is measured', async () => {
      calm.push(...(await times()))
      return calm.length >= CALM_PROBES
    })
    await attack()
    // A round trip later whatever the attack has left to do has been noticed.
    expect((await daemon.get('/livez')).status).toBe(200)
    const cost = { calmMs: Math.max(...calm), worstMs: Math.max(...(await times())), grownMb: peakMb - beforeMb }
    if (process.env['ATTACK_COSTS'] !== undefined) console.log(expect.getState().currentTestName, cost)
    return cost
  } finally {
    clearInterval(watch)
    await probe.terminate()
  }
}

/** Of the whole process, what is in RAM; 0 when it has ended. */
function memoryMb(pid: number): number {
  try {
    const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kb ?? 0) / 1024
  } catch {
    return 0
  }
}

export interface Attacker {
  socket: net.Socket
  /** What came back so far; nothing while nobody reads. */
  received(): string
  closed(): boolean
}

/** A connection that sends what it is told and, unless it reads, leaves every answer where it is. */
export async function connectAttacker(url: string, reads: 'answers' | 'nothing'): Promise<Attacker> {
  const { hostname, port } = new URL(url)
  const socket = net.connect(Number(port), hostname)
  let received = ''
  let closed = false
  if (reads === 'answers') {
    socket.setEncoding('latin1').on('data', (chunk) => {
      received += chunk
    })
  } else socket.pause()
  socket.on('error', () => undefined)
  socket.on('close', () => {
    closed = true
  })
  await new Promise((resolve) => socket.once('connect', resolve).once('error', resolve))
  return { socket, received: () => received, closed: () => closed || socket.destroyed }
}

/** Sends everything, as fast as the other side takes it, or until it cuts us off or takes nothing more. */
export async function sendAll({ socket }: Attacker, data: string | Buffer, stuckMs = 1_000): Promise<void> {
  if (socket.destroyed) return
  await new Promise<void>((resolve) => {
    const stuck = setTimeout(resolve, stuckMs)
    const done = () => {
      clearTimeout(stuck)
      socket.off('close', done)
      resolve()
    }
    socket.once('close', done)
    socket.write(data, done)
  })
}

export function postHead(path: string, headers: Record<string, string | number>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`
}
