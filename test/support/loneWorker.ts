// One command in a process of its own, made to be killed. Needs the build.
import { type ChildProcess, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import type { JsonObject } from '../../src/domain/json/value.js'
import { until } from './until.js'

export interface LoneWorker {
  /** The first line that the step prints. */
  firstLine(): Promise<string>
  kill(): void
}

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export async function startLoneWorker(config: JsonObject): Promise<LoneWorker> {
  const dist = new URL('../../dist/', import.meta.url).href
  const script = `
    const { createWorkerTools } = await import('${dist}tools/workerTools.js')
    const { systemClock } = await import('${dist}runtime/clock.js')
    const folder = ${JSON.stringify(tmpdir())}
    const tools = createWorkerTools(
      { environment: process.env, allowed: ['python', 'shell'], pythonProgram: 'python3', processesMax: 4, workFolder: folder, dataFolder: folder,
        http: { forbidden: () => [], allowed: [], denyPrivate: false }, serverUrl: () => undefined, version: 'test' },
      { clock: systemClock, random: Math.random, credentials: { find: async () => undefined }, results: {}, children: {} },
    )
    await tools.run({ tool_config: ${JSON.stringify(config)} }, { step: 'lone' }, { signal: new AbortController().signal, onLine: (_, line) => console.log(line) })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  running.add(child)
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  return {
    firstLine: () =>
      until('the step prints', () => (output.includes('\n') ? (output.split('\n')[0] as string) : undefined), {
        timeoutMs: 60_000,
      }),
    kill: () => {
      child.kill('SIGKILL')
      running.delete(child)
    },
  }
}
