// The rules of console/ as data: it runs in a browser, so it has no floor of src to stand on.
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SourceFile } from './architecture.js'

/** Everything the browser gets besides our own code. */
const PACKAGES = [
  'preact',
  'preact/hooks',
  '@preact/signals',
  'uplot',
  'uplot/dist/uPlot.min.css',
  '@dagrejs/dagre',
  'lossless-json',
]
/** The one program of the daemon that browsers run, too: whoever writes the tape says how it is read. */
const SHARED = '../../src/domain/tape/decodeTape.js'
const LINES_MAX = 300
/** Ways by which a text could become a page or a program. */
const NEVER = /\b(innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|eval\(|new Function)\b/

export function readConsole(): SourceFile[] {
  const root = fileURLToPath(new URL('../../console/src', import.meta.url))
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(root, path), 'utf8') }))
}

export function consoleViolations(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const found: string[] = []
    for (const [line, , specifier] of text.matchAll(/^(?:import|export) ([^'"]*?from )?['"]([^'"]+)['"]/gm)) {
      if (!specifier!.startsWith('.')) {
        if (!PACKAGES.includes(specifier!)) found.push(`${path} imports ${specifier}, which the console does not bring`)
      } else if (isOutside(posix.join(posix.dirname(path), specifier!)) && !/^import type /.test(line)) {
        found.push(`${path} must take nothing but types from ${specifier}`)
      }
    }
    const never = NEVER.exec(text)?.[1]
    if (never !== undefined) found.push(`${path} must not use ${never}: data is text`)
    const lines = text.split('\n').length
    if (lines > LINES_MAX) found.push(`${path} has ${lines} lines; look for the second idea beyond ${LINES_MAX}`)
    return found
  })
}

function isOutside(path: string): boolean {
  return path.startsWith('..') && path !== SHARED
}
