// Parts of a valid subscription that nothing here acts upon. They belong to the NoETL server's workers; whoever
// writes them should hear at registration what happens instead, and not find out from a lost expectation.

import type { Violation } from '../catalog/violation.js'
import { isJsonObject } from '../json/value.js'
import { isRouting } from './headerRoutes.js'
import type { SubscriptionSpec } from './subscriptionSpec.js'

/** What a directive may control here; see ingressMessage.ts. */
const ACTED_UPON = 'idempotency_key'

export function subscriptionWarnings(spec: SubscriptionSpec | undefined): Violation[] {
  if (spec === undefined) return []
  const warnings: Violation[] = []
  const warn = (path: string, message: string) => warnings.push({ path: `/spec/${path}`, message })
  if (spec.spool !== undefined && spec.spool.mode !== 'off') {
    const instead =
      spec.mode === 'pull'
        ? 'messages wait in their stream and are acknowledged after their execution is committed'
        : 'a push that cannot be started is answered 503, and the sender repeats it'
    warn('spool', `has no effect here: ${instead}`)
  }
  if (spec.dispatch.batchDispatch) {
    warn(
      'dispatch/batch_dispatch',
      'has no effect here: every message starts an execution of its own, and starts are committed up to 250 at once anyway',
    )
  }
  const directives = spec.headers?.['directives']
  for (const [index, directive] of (Array.isArray(directives) ? directives : []).entries()) {
    if (!isJsonObject(directive) || directive['controls'] === ACTED_UPON || isRouting(directive['controls'])) continue
    const controls = JSON.stringify(directive['controls'])
    warn(
      `headers/directives/${index}`,
      `has no effect here: only ${ACTED_UPON}, dispatch.playbook and dispatch.execution_pool are acted upon, not ${controls}; use payload_from: message to hand the header to the playbook`,
    )
  }
  return warnings
}
