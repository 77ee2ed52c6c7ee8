// Which arcs of a visit that has ended are taken.

import type { ArcPlan, StepPlan } from '../playbook/plan.js'
import { TemplateError } from '../template/templateError.js'
import type { EngineContext } from './engineContext.js'
import { engineError, StepFailure } from './engineError.js'
import { whyOf } from './placed.js'
import { requireValues } from './references.js'

export interface Choice {
  readonly taken: readonly ArcPlan[]
  readonly notTaken: readonly ArcPlan[]
}

export const NO_CHOICE: Choice = { taken: [], notTaken: [] }

/** After a failure only arcs that look at failures take part. */
export function chooseArcs(step: StepPlan, context: EngineContext, isFailed: boolean): Choice {
  const { arcs, mode } = step.next
  const taken: ArcPlan[] = []
  for (const arc of arcs) {
    if (isFailed && !arc.readsFailure) continue
    if (!isTaken(step, arc, context)) continue
    taken.push(arc)
    if (mode === 'exclusive') break
  }
  return { taken, notTaken: arcs.filter((arc) => !taken.includes(arc)) }
}

function isTaken(step: StepPlan, arc: ArcPlan, context: EngineContext): boolean {
  const { when } = arc
  if (when === undefined) return true
  if (when.template !== undefined) requireValues(context, [{ template: when.template }])
  try {
    return when.isMet(context)
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    const where = `next of step "${step.name}", arc to "${arc.targetName}"`
    throw new StepFailure(engineError('template', `${where}: ${when.template?.text ?? ''}: ${whyOf(error)}`, 'next'))
  }
}
