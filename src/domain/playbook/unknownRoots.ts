// Names that a template reads and that nothing defines: most often a word that is misspelt. Payloads may bring names that no
// document mentions, so this is a warning.

import { needsSecrets } from './deferral.js'
import type { PlanSite } from './site.js'
import { KNOWN_ROOTS } from './templateRoots.js'

export function warnUnknownRoots(site: PlanSite): void {
  const known = new Set([...KNOWN_ROOTS, ...site.names])
  for (const { pointer, template, by, isBareGuard } of site.uses) {
    if (by === 'engine' && needsSecrets(template)) {
      site.problems.warn(pointer, 'reads keychain or token(), which are only known where a tool runs')
    }
    for (const root of new Set(template.paths.map((path) => path.root))) {
      if (known.has(root)) continue
      if (isBareGuard) site.problems.warn(pointer, `is a plain word: it reads the name ${root}, which nothing defines`)
      else site.problems.warn(pointer, `reads ${JSON.stringify(root)}, which nothing in this playbook defines`)
    }
  }
}
