// Tests take the sources as they were built: loading them as TypeScript, in every worker, took an eighth of the processor time of
// unit tests. Where a source is newer than the build, as while one is being written, they are loaded as they are.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vitest/config'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SOURCES = join(ROOT, 'src/')
const BUILT = join(ROOT, 'dist/')
const STAMP = join(ROOT, '.make/build')

export function builtSources(): Plugin[] {
  if (!isBuildCurrent()) return []
  return [
    {
      name: 'built-sources',
      enforce: 'pre',
      resolveId(source, importer) {
        if (importer === undefined || !/^\.{1,2}\/(.*\/)?src\//.test(source)) return undefined
        const wanted = join(importer, '..', source)
        if (!wanted.startsWith(SOURCES)) return undefined
        return BUILT + wanted.slice(SOURCES.length).replace(/\.ts$/, '.js')
      },
    },
  ]
}

function isBuildCurrent(): boolean {
  const builtAt = statSync(STAMP, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).every(
    (name) => statSync(SOURCES + name).mtimeMs <= builtAt,
  )
}
