// A tool of kind `playbook`: which playbook is started, with what, and whether the step waits for its end.

import type { Reader } from '../catalog/violation.js'
import type { CompiledTree } from '../template/tree.js'
import type { ChildPlan } from './plan.js'
import { readSeconds } from './seconds.js'
import type { PlanSite } from './site.js'
import type { ToolContext } from './toolContext.js'
import type { TaskSource } from './toolSource.js'
import { argumentTree } from './trees.js'

const TIMEOUT_SECONDS = 300

export function checkChild(tool: Reader, site: PlanSite): void {
  if (tool.has('path') || tool.has('catalog_id')) return
  site.problems.error(tool.path, 'names no playbook; give its path or its catalog_id')
}

export function readChild({ tool, args }: TaskSource, { site, profile }: ToolContext): ChildPlan {
  const field = (key: string): CompiledTree | undefined => {
    const value = tool.value(key)
    return value === undefined ? undefined : site.tree(value, `${tool.path}/${key}`)
  }
  const payload = tool.value('payload')
  const layers = payload === undefined ? args : [...args, { value: payload, pointer: `${tool.path}/payload` }]
  const returnResult = tool.boolean('return_result') ?? false
  return {
    path: field('path'),
    catalogId: tool.has('path') ? undefined : field('catalog_id'),
    version: field('version'),
    payload: argumentTree(layers, site),
    returnStep: field('return_step') ?? field('result_step'),
    returnResult,
    waits:
      tool.has('return_step') || tool.has('result_step') || returnResult || waitsByItself(tool, profile === 'local'),
    timeoutSeconds: readSeconds(tool, 'timeout', site) ?? TIMEOUT_SECONDS,
  }
}

function waitsByItself(tool: Reader, byDefault: boolean): boolean {
  return tool.boolean('wait') ?? byDefault
}
