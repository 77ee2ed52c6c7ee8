// Starts the servers once for all vitest projects of a run and hands their addresses to the tests.
import { existsSync } from 'node:fs'
import type { TestProject } from 'vitest/node'
import { startServers, type TestServers } from './servers.js'

declare module 'vitest' {
  export interface ProvidedContext {
    servers: TestServers
  }
}

// Every project calls this file in the same process; the servers are shared and stopped by the last.
type Shared = { started: ReturnType<typeof startServers>; users: number }
const holder = globalThis as { noetlTestServers?: Shared }

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (!existsSync(new URL('../../dist/cli/main.js', import.meta.url))) {
    throw new Error('dist/ is missing: run "make build" first (make test does)')
  }
  holder.noetlTestServers ??= { started: startServers(), users: 0 }
  const shared = holder.noetlTestServers
  shared.users += 1
  const { servers, stop } = await shared.started
  project.provide('servers', servers)
  return async () => {
    shared.users -= 1
    if (shared.users === 0) await stop()
  }
}
