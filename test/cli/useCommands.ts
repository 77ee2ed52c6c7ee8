// A database with one playbook, and the commands run against it in this process: the same main() without the time a
// new process takes.
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect } from 'vitest'
import { cli, type Ran } from '../support/cli.js'
import { useDatabase } from '../support/database.js'

const HELLO =
  'apiVersion: noetl.io/v2\nkind: Playbook\nmetadata:\n  path: demo/hello\nworkload:\n  greeting: hi\nworkflow:\n  - step: start\n    tool: {kind: noop}\n'

export function useCommands() {
  const database = useDatabase()
  let folder = ''
  const env = () => ({ NOETL_DATABASE_URL: database.get().url })
  const run = (args: readonly string[], input = ''): Promise<Ran> => cli(args, { env: env(), input })

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'noetl-cp-commands-'))
    const file = join(folder, 'hello.yaml')
    await writeFile(file, HELLO)
    expect((await run(['catalog', 'register', file])).code).toBe(0)
  })

  return {
    database,
    hello: HELLO,
    folder: () => folder,
    env,
    run,
    json: async (args: readonly string[], input = ''): Promise<any> => {
      const finished = await run([...args, '--json'], input)
      expect(finished).toMatchObject({ code: 0 })
      return JSON.parse(finished.stdout)
    },
    /** Starts the playbook and answers the id. */
    start: async (): Promise<string> => (await run(['execution', 'start', 'demo/hello', '--quiet'])).stdout.trimEnd(),
  }
}
