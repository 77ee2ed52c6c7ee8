// Whether a guard asks about failure. After a failure only such arcs take part, so this is known before anything runs.

import type { TemplatePath } from '../template/readPaths.js'
import type { Template } from '../template/template.js'

export function guardReadsFailure(template: Template, stepName: string): boolean {
  const asked = [
    ['event'],
    ['error'],
    ['output', 'status'],
    ['output', 'error'],
    ['result', 'status'],
    ['result', 'error'],
    [stepName, 'status'],
    [stepName, 'error'],
    ['steps', stepName, 'status'],
    ['steps', stepName, 'error'],
  ]
  return template.paths.some((path) => asked.some((one) => covers(path, one)))
}

/** Equal, one beginning with the other, or cut off by an index that is only known later. */
function covers({ root, keys }: TemplatePath, asked: readonly string[]): boolean {
  return [root, ...keys].every((part, index) => index >= asked.length || part === asked[index])
}
