// Runs the lab with plain node: `node lab/run.mjs --help`. The modules are TypeScript; the loader is the one
// that the tests use.
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

const { module } = await runnerImport(fileURLToPath(new URL('./main.ts', import.meta.url)), {
  configFile: false,
  root: fileURLToPath(new URL('..', import.meta.url)),
  logLevel: 'error',
})
process.exitCode = await module.main(process.argv.slice(2))
