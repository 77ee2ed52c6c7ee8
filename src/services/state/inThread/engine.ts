// The engine behind the seam: finds the plan of an execution and asks it. A plan that this thread does not have is asked for
// like any other value that a decision needs.

import { decide } from '../../../domain/engine/decide.js'
import { failedDecision } from '../../../domain/engine/endExecution.js'
import { ENGINE_VERSION, type EngineSettings } from '../../../domain/engine/settings.js'
import { waitingIn } from '../../../domain/engine/waiting.js'
import type { Planned } from '../../../domain/playbook/plan.js'
import type { DecisionInput, Orchestrator, Verdict } from '../../../domain/state/orchestrator.js'
import { Plans } from './plans.js'

/** What is needed of the catalog: the text of an entry. */
export const CATALOG_REF = 'catalog:'

export function createEngine(settings: EngineSettings): Orchestrator {
  const plans = new Plans()

  function plannedFor({ fetched }: DecisionInput, catalogId: string): Planned | 'unknown' | undefined {
    const known = plans.of(catalogId)
    if (known !== undefined) return known
    const ref = `${CATALOG_REF}${catalogId}`
    if (!fetched.has(ref)) return 'unknown'
    const text = fetched.get(ref)
    return typeof text === 'string' ? plans.learn(catalogId, text) : undefined
  }

  return {
    drives: (engine) => engine === ENGINE_VERSION,
    explain: (input) => {
      const { state, nowMs, startMeta, fetched } = input
      const { driven } = state
      if (driven?.engine !== ENGINE_VERSION || state.end !== undefined) return undefined
      const catalogId = state.catalog?.value ?? '0'
      const planned = plannedFor(input, catalogId)
      if (planned === 'unknown') return { needs: [`${CATALOG_REF}${catalogId}`] }
      if (planned?.plan === undefined) return undefined
      return waitingIn({ plan: planned.plan, state, driven, settings, nowMs, startMeta, fetched })
    },
    decide: (input): Verdict | undefined => {
      const { state, engine, nowMs, startMeta, fetched } = input
      // Executions of another version are left to daemons of that version: two sets of rules never meet in one log.
      if (engine !== ENGINE_VERSION || state.driven?.engine !== ENGINE_VERSION || state.end !== undefined)
        return undefined
      const catalogId = state.catalog?.value ?? '0'
      const planned = plannedFor(input, catalogId)
      if (planned === 'unknown') return { needs: [`${CATALOG_REF}${catalogId}`] }
      if (planned?.plan === undefined) return failedDecision(nowMs, whyNot(catalogId, planned), 'config')
      return decide({ plan: planned.plan, state, settings, nowMs, startMeta, fetched })
    },
  }
}

function whyNot(catalogId: string, planned: Planned | undefined): string {
  if (planned === undefined) return `catalog entry ${catalogId} is gone`
  const errors = planned.problems.filter(({ severity }) => severity === 'error')
  return `the playbook cannot run: ${errors.map(({ pointer, message }) => `${pointer}: ${message}`).join('; ')}`
}
