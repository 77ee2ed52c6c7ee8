// Promise: after sourcing the script a tab in a real bash or zsh completes ids and paths of the running instance, words, and
// still files. zsh says what each word is.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { BINARY, type Daemon, startDaemon } from '../support/binary.js'
import { until } from '../support/until.js'
import { useCommands } from './useCommands.js'

const { env, start } = useCommands()
let daemon: Daemon
let folder = ''

beforeAll(async () => {
  daemon = await startDaemon([], { env: { ...env(), NOETL_CP_ENGINE: 'false' } })
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-completion-'))
  await writeFile(join(folder, 'unmistakable.yaml'), '')
})
afterAll(async () => {
  await daemon.stop()
  await rm(folder, { recursive: true })
})

const has = (program: string) => spawnSync(program, ['--version']).status === 0

/** A shell on a terminal, with a noetl-cp that answers completion and otherwise says what it was called with. */
const SHELLS = {
  bash: { args: 'bash --norc --noprofile -i', prepare: 'PS1="READY "' },
  zsh: { args: 'zsh -f -i', prepare: 'PS1="READY "; autoload -Uz compinit; compinit -u -D' },
} as const

async function inShell<T>(name: keyof typeof SHELLS, work: (type: (keys: string) => void, screen: () => string) => T) {
  const child = spawn('script', ['-qec', SHELLS[name].args, '/dev/null'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], TERM: 'dumb', HOME: folder, NOETL_CP_URL: daemon.url },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  const closed = new Promise((resolve) => child.once('close', resolve))
  const type = (keys: string): void => {
    child.stdin.write(keys)
  }
  try {
    type(`${SHELLS[name].prepare}\n`)
    type(
      `noetl-cp() { if [ "$1" = complete ]; then "${process.execPath}" "${BINARY}" "$@"; else echo "CALLED-$*-"; fi }\n`,
    )
    type(`source <("${process.execPath}" "${BINARY}" completion ${name}); echo SOUR''CED\n`)
    await until('the script is sourced', () => text.includes('SOURCED'), { timeoutMs: 60_000 })
    return await work(type, () => text)
  } finally {
    type('\x03\nexit\n')
    child.stdin.end()
    await closed
  }
}

describe.each(['bash', 'zsh'] as const)('%s', (shell) => {
  it.skipIf(!has('script') || !has(shell))(
    'completes words, paths and ids of the instance, and files',
    async () => {
      const id = await start()
      await inShell(shell, async (type, screen) => {
        const typed = async (keys: string, wanted: string): Promise<void> => {
          type(`${keys}\t\n`)
          await until(`${keys} becomes ${wanted}`, () => screen().includes(`CALLED-${wanted}`), { timeoutMs: 60_000 })
        }
        await typed('noetl-cp execution finali', 'execution finalize')
        await typed('noetl-cp execution list --status RUN', 'execution list --status RUNNING')
        await typed('noetl-cp execution start demo/hel', 'execution start demo/hello')
        await typed(`noetl-cp execution show ${id.slice(0, 12)}`, `execution show ${id}`)
        await typed('noetl-cp run unmistak', 'run unmistakable.yaml')
        if (shell === 'zsh') {
          type('noetl-cp outbox dead \t')
          await until('descriptions', () => /drop +-- \w/.test(screen()), { timeoutMs: 60_000 })
        }
      })
    },
    240_000,
  )
})
