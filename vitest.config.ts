import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

// The suffix of a test file says what it needs (see CONTRIBUTING.md). `unit` needs nothing and runs in
// `make check`; every other project gets the real servers of test/support/servers.ts.
const services = {
  globalSetup: ['test/support/globalServers.ts'],
  testTimeout: 180_000,
  hookTimeout: 180_000,
  // The build is loaded as it is.
  server: { deps: { external: [/\/dist\//] } },
}

export default defineConfig({
  test: {
    // Most of the time of the slow suites is waiting for servers and deadlines, so more files than cores run at once.
    maxWorkers: Math.max(4, availableParallelism()),
    reporters: ['default', './test/support/closingLineReporter.ts'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{test,lab}/**/*.test.ts'],
          exclude: ['**/*.{pg,nats,fault,e2e}.test.ts'],
          testTimeout: 120_000,
          // Pure code: files share a worker and what it has loaded, which saves a third of the processor time.
          isolate: false,
        },
      },
      { test: { name: 'pg', include: ['{test,lab}/**/*.pg.test.ts'], ...services } },
      { test: { name: 'nats', include: ['{test,lab}/**/*.nats.test.ts'], ...services } },
      { test: { name: 'fault', include: ['{test,lab}/**/*.fault.test.ts'], ...services, testTimeout: 240_000 } },
      { test: { name: 'e2e', include: ['{test,lab}/**/*.e2e.test.ts'], ...services, testTimeout: 240_000 } },
    ],
  },
})
