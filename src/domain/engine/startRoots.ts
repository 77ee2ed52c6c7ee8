// What every template can read from the start on, and what never changes: whose execution it is, of which playbook.

import type { JsonValue } from '../json/value.js'
import type { Plan } from '../playbook/plan.js'
import type { WorkflowState } from '../state/workflowState.js'
import type { TemplateValue } from '../template/run.js'
import type { EngineSettings } from './settings.js'

interface Started {
  readonly state: WorkflowState
  readonly plan: Plan
  readonly settings: EngineSettings
}

export function startRoot({ state, plan, settings }: Started, name: string): TemplateValue {
  const id = state.executionId
  switch (name) {
    case 'execution_id':
      return id
    case 'catalog_id':
      return state.catalog?.value
    case 'parent_execution_id':
      return state.parent?.value
    case 'job':
      return { uuid: id, id, execution_id: id }
    case 'path':
      return textIn(state.path?.value)
    case 'version':
      return textIn(state.version?.value)
    case 'playbook':
      return {
        path: textIn(state.path?.value) ?? null,
        version: textIn(state.version?.value) ?? null,
        name: plan.name,
      }
    case 'env':
      return { ...settings.env }
    default:
      return undefined
  }
}

function textIn(text: string | undefined): TemplateValue {
  return text === undefined ? undefined : (JSON.parse(text) as JsonValue)
}
