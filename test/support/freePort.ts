// A port for a server that must be told one, or that comes back on it. It is below those that the system gives to whoever asks for
// none (from 32768 on): nobody is given it while the server is not there, nor does a client that connects to it meet itself.
import net from 'node:net'

/** Browsers refuse a few below. */
const FIRST = 10_100
const PER_WORKER = 30
const WORKERS = 20
const RUNS = 37
let chosen = 0

/** Workers that run at the same time have ports of their own, and so have several runs, as a rule. */
export async function freePort(): Promise<number> {
  const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % WORKERS
  const first = FIRST + ((process.ppid % RUNS) * WORKERS + worker) * PER_WORKER
  for (let tries = 0; tries < PER_WORKER; tries++) {
    const port = first + (chosen++ % PER_WORKER)
    if (await canListen(port)) return port
  }
  throw new Error(`none of the ports from ${first} to ${first + PER_WORKER - 1} is free`)
}

function canListen(port: number): Promise<boolean> {
  const server = net.createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
