import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { builtSources } from './test/support/builtSources.js'
import { LongestFirst } from './test/support/longestFirst.js'

// The build is loaded as it is.
const built = { server: { deps: { external: [/\/dist\//] } } }

// The suffix of a test file says what it needs (see CONTRIBUTING.md). `unit` needs nothing and runs in
// `make check`; every other project gets the real servers of test/support/servers.ts.
const services = {
  globalSetup: ['test/support/globalServers.ts'],
  testTimeout: 240_000,
  hookTimeout: 240_000,
  ...built,
}
// Files share a worker and what it has loaded: loading the sources for each of them took a third of the processor time.
const shared = { isolate: false }
const plugins = builtSources()

export default defineConfig({
  test: {
    // Most of the time of the slow suites is waiting for servers and deadlines, so more files than cores run at once.
    maxWorkers: Math.max(6, availableParallelism()),
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/support/closingLineReporter.ts'],
    projects: [
      {
        plugins,
        test: {
          name: 'unit',
          include: ['{test,lab}/**/*.test.ts'],
          exclude: ['**/*.{pg,nats,fault,e2e,web}.test.ts'],
          testTimeout: 120_000,
          ...built,
          ...shared,
        },
      },
      { plugins, test: { name: 'pg', include: ['{test,lab}/**/*.pg.test.ts'], ...services, ...shared } },
      { plugins, test: { name: 'nats', include: ['{test,lab}/**/*.nats.test.ts'], ...services, ...shared } },
      { plugins, test: { name: 'fault', include: ['{test,lab}/**/*.fault.test.ts'], ...services, ...shared } },
      { plugins, test: { name: 'e2e', include: ['{test,lab}/**/*.e2e.test.ts'], ...services, ...shared } },
      {
        plugins,
        test: {
          name: 'web',
          include: ['test/web/*.web.test.ts'],
          ...services,
          globalSetup: [...services.globalSetup, 'test/support/globalBrowser.ts'],
        },
      },
    ],
  },
})
