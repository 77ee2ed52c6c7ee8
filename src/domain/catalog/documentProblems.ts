// What is wrong with a catalog document that can be read: a playbook that cannot run, a subscription that says things
// without effect. Registration tells all of it and accepts the document; starting an execution refuses errors.

import type { Problem } from '../playbook/plan.js'
import { planDocument } from '../playbook/planDocument.js'
import { subscriptionWarnings } from '../subscriptions/subscriptionWarnings.js'
import type { CatalogDocument } from './catalogDocument.js'

export function documentProblems({ kind, document, subscription }: CatalogDocument): readonly Problem[] {
  if (kind === 'playbook') return planDocument(document).problems
  return subscriptionWarnings(subscription).map(({ path, message }) => ({
    pointer: path,
    severity: 'warning',
    message,
  }))
}
