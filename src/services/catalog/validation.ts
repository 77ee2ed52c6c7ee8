// What is wrong with a document that is not in the catalog, everything at once: the same judgement that registration gives
// as warnings and that a start is refused by.

import type { Place } from '../../domain/catalog/documentPlaces.js'
import { metadataProblems } from '../../domain/catalog/metadataProblems.js'
import type { Problem } from '../../domain/playbook/plan.js'
import type { OwnSources } from '../../domain/subscriptions/ownSources.js'
import { ownSourceViolations } from '../../domain/subscriptions/subscriptionSource.js'
import { toCpError } from '../../errors.js'
import type { CatalogDocuments } from './catalogDocuments.js'

export interface ValidationDeps {
  documents: Pick<CatalogDocuments, 'read' | 'placesOf'>
  own: OwnSources
}

export interface Verdict {
  valid: boolean
  /** Missing when the text cannot be read as a document. */
  document: { path: string; kind: string } | undefined
  problems: readonly PlacedProblem[]
}

/** From 1; missing where the text does not tell. */
export type PlacedProblem = Problem & Partial<Place>

export async function validateDocument(deps: ValidationDeps, text: string, resourceType?: string): Promise<Verdict> {
  try {
    const document = await deps.documents.read(text, resourceType)
    const { path, kind, subscription, problems } = document
    const refused = kind === 'playbook' ? metadataProblems(document.value()) : []
    const all = [...problemsFrom(ownSourceViolations(subscription, deps.own)), ...refused, ...problems]
    const valid = all.every(({ severity }) => severity !== 'error')
    return { valid, document: { path, kind }, problems: await placed(deps, text, all) }
  } catch (error) {
    const problems = problemsFrom(violationsOf(error))
    return { valid: false, document: undefined, problems: await placed(deps, text, problems) }
  }
}

async function placed({ documents }: ValidationDeps, text: string, problems: Problem[]): Promise<PlacedProblem[]> {
  const places = await documents.placesOf(
    text,
    problems.map(({ pointer }) => pointer),
  )
  return problems.map((problem, index) => ({ ...problem, ...places[index] }))
}

interface Violation {
  readonly path: string
  readonly message: string
}

/** Of a text that is not a document; any other failure is thrown on. */
export function violationsOf(error: unknown): readonly Violation[] {
  const failure = toCpError(error)
  const violations = failure.details['violations']
  if (!Array.isArray(violations)) throw failure
  return violations
}

export function problemsFrom(violations: readonly Violation[]): Problem[] {
  return violations.map(({ path, message }) => ({ pointer: path, severity: 'error', message }))
}
