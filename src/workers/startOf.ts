// How piscina is to start threads with an entry of ours: through loadEntry, which says why.
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { PACKAGE_FOLDER } from '../runtime/packageFolder.js'

const LOADER = fileURLToPath(new URL('dist/workers/loadEntry.cjs', PACKAGE_FOLDER))

export function startOf(entry: string): { filename: string; argv: string[] } {
  heedYoungLimits()
  return { filename: LOADER, argv: [entry] }
}

/**
 * Threads that are made from now on have the room for young objects that they are given. What the program starts with (the first
 * line of bin/noetl-cp.js) is a flag of the whole process, and holds above the limits of its threads; the main thread keeps it.
 */
function heedYoungLimits(): void {
  for (const flag of ['--min-semi-space-size=0', '--max-semi-space-size=0']) setFlagsFromString(flag)
}
