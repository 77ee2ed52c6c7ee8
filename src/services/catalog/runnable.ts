// Whether an entry may be started. A playbook with errors is refused with all of them before anything is written; entries of
// other kinds are not looked into.

import type { Problem } from '../../domain/playbook/plan.js'
import { CpError } from '../../errors.js'
import type { CatalogEntry } from '../../stores/catalog/catalogStore.js'
import type { CatalogDocuments } from './catalogDocuments.js'
import { problemsFrom, violationsOf } from './validation.js'

const NAMED_MAX = 3

export interface RunnableDeps {
  documents: Pick<CatalogDocuments, 'ofEntry'>
}

export async function assertRunnable(deps: RunnableDeps, entry: CatalogEntry): Promise<void> {
  assertNoSubscriptionEntry(entry)
  if (entry.kind.toLowerCase() !== 'playbook') return
  const problems = await problemsOf(deps, entry)
  const errors = problems.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw cannotRun(entry.path, errors, problems)
}

/** What starts executions is not one itself. */
export function assertNoSubscriptionEntry({ kind, path }: Pick<CatalogEntry, 'kind' | 'path'>): void {
  if (kind.toLowerCase() !== 'subscription') return
  throw new CpError(
    'refused',
    `${path} is a subscription and cannot be started; "noetl-cp subscription register ${path}" makes it receive messages`,
  )
}

/** A database that was adopted may hold a document that cannot even be read. */
async function problemsOf({ documents }: RunnableDeps, entry: CatalogEntry): Promise<readonly Problem[]> {
  try {
    return (await documents.ofEntry(entry)).problems
  } catch (error) {
    return problemsFrom(violationsOf(error))
  }
}

function cannotRun(path: string, errors: readonly Problem[], problems: readonly Problem[]): CpError {
  const named = errors.slice(0, NAMED_MAX).map(({ pointer, message }) => `${pointer || 'the document'}: ${message}`)
  const rest = errors.length - named.length
  const more = rest > 0 ? `; ${rest} more, see "noetl-cp catalog validate"` : ''
  return new CpError('refused', `the playbook ${path} cannot run: ${named.join('; ')}${more}`, {
    details: { problems: problems.map((problem) => ({ ...problem })) },
  })
}
