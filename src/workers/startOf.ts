// How piscina is to start threads with an entry of ours: through loadEntry, which says why.
import { fileURLToPath } from 'node:url'
import { PACKAGE_FOLDER } from '../runtime/packageFolder.js'

const LOADER = fileURLToPath(new URL('dist/workers/loadEntry.cjs', PACKAGE_FOLDER))

export function startOf(entry: string): { filename: string; argv: string[] } {
  return { filename: LOADER, argv: [entry] }
}
