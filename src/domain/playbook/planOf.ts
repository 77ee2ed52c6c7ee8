// The text of a playbook into its plan, for threads that get the text: a plan cannot be sent from one to another.

import { CpError } from '../../errors.js'
import { parseCatalogDocument } from '../catalog/catalogDocument.js'
import type { Planned, Problem } from './plan.js'
import { planDocument } from './planDocument.js'

export function planOf(documentText: string): Planned {
  try {
    return planDocument(parseCatalogDocument(documentText).document)
  } catch (error) {
    // A text that is not a document at all has no place to point at.
    if (!(error instanceof CpError)) throw error
    return { plan: undefined, problems: syntaxProblems(error) }
  }
}

function syntaxProblems(error: CpError): Problem[] {
  const violations = error.details?.['violations']
  if (!Array.isArray(violations)) return [{ pointer: '', severity: 'error', message: error.message }]
  return violations.map((violation: { path: string; message: string }) => ({
    pointer: violation.path,
    severity: 'error',
    message: violation.message,
  }))
}
