// Whether a subscription may read the NATS source that it names: never what this installation publishes itself.

import type { Violation } from '../catalog/violation.js'
import { type NamedSource, type OwnSources, ownSourceProblem } from './ownSources.js'
import type { SubscriptionSpec } from './subscriptionSpec.js'

/** At most one; the place is that of the setting as it may be written under `source`. */
export function ownSourceViolations(spec: SubscriptionSpec | undefined, own: OwnSources): Violation[] {
  if (spec?.source.type !== 'nats') return []
  const { settings } = spec.source
  const text = (key: string): string | undefined => {
    const value = settings[key]
    return typeof value === 'string' ? value : undefined
  }
  const named: NamedSource = {
    stream: text('stream'),
    subject: text('subject'),
    durable: text('durable') ?? text('consumer'),
  }
  const problem = ownSourceProblem(own, named)
  return problem === undefined ? [] : [{ path: `/spec/source/${problem.key}`, message: problem.message }]
}
