// Runs a script in a process of its own and answers the JSON line it prints; one that does not end is killed.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** What the first line of the program gives to Node. */
export const PRODUCT_FLAGS = readFileSync(new URL('../../bin/noetl-cp.js', import.meta.url), 'utf8')
  .split('\n', 1)[0]
  .split(' ')
  .filter((word) => word.startsWith('--'))

/** The longest one takes a few minutes. */
const DEADLINE_MS = 20 * 60_000

export function runScript(name, argument, { flags = [] } = {}) {
  const path = fileURLToPath(new URL(`./${name}`, import.meta.url))
  const child = spawn(process.execPath, [...flags, path, JSON.stringify(argument)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: DEADLINE_MS,
    killSignal: 'SIGKILL',
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const finished = new Promise((resolve, reject) => {
    child.on('close', (code, signal) =>
      code === 0
        ? resolve(JSON.parse(output.trim().split('\n').pop()))
        : reject(new Error(`${name} ended with ${code ?? signal}`)),
    )
  })
  return { finished, stop: () => child.stdin.write('stop\n') }
}
