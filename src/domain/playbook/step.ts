// One step of the workflow.

import type { Reader } from '../catalog/violation.js'
import { escapeSegment } from '../json/pointer.js'
import { isJsonObject } from '../json/value.js'
import { readAssignments } from './assignments.js'
import { needsSecrets } from './deferral.js'
import { FAILURE_MODES } from './executor.js'
import {
  ADMIT_KEYS,
  FAILURE_KEYS,
  RULE_KEYS,
  STEP_KEYS,
  STEP_POLICY_KEYS,
  STEP_SPEC_KEYS,
  warnUnknownKeys,
} from './knownKeys.js'
import { readLoop } from './loop.js'
import { type LooseNext, readNext, readNextMode } from './next.js'
import type { AdmitRule, Assignment, FailureMode, StepPlan, ToolPlan } from './plan.js'
import { readTimeoutMs } from './seconds.js'
import { stepSelections } from './selections.js'
import type { PlanSite } from './site.js'
import { planTool } from './tool.js'
import type { ToolContext } from './toolContext.js'
import { argumentLayers } from './toolSource.js'
import { argumentTree } from './trees.js'
import { deferredTemplates, workerReads } from './workerReads.js'

/** A step before its arcs have their place in the graph; without a tool when there is none that can be read. */
export interface LooseStep extends Omit<StepPlan, 'next' | 'tool'> {
  readonly tool: ToolPlan | undefined
  readonly next: LooseNext
}

export interface StepContext extends ToolContext {
  readonly stepIndex: ReadonlyMap<string, number>
  /** For steps that do not name one. */
  readonly failureMode: FailureMode
}

export function readStep(step: Reader, index: number, name: string, context: StepContext): LooseStep {
  const { site } = context
  warnUnknownKeys(step, STEP_KEYS, site)
  if (Object.hasOwn(step.raw(), 'case')) step.wrong('case', 'case is not part of v2, use next.arcs')
  const spec = step.mapping('spec')
  warnUnknownKeys(spec, STEP_SPEC_KEYS, site)
  const policy = spec?.mapping('policy')
  warnUnknownKeys(policy, STEP_POLICY_KEYS, site)
  const failure = policy?.mapping('failure')
  warnUnknownKeys(failure, FAILURE_KEYS, site)
  const loop = readLoop(step, site)
  if (loop?.mode === 'cursor') warnOfLostSets(step, site)
  const input = argumentTree(argumentLayers(step), site, { isDeferred: needsSecrets })
  const tool = readTool(step, name, input, context)
  return {
    index,
    name,
    pointer: step.path,
    when: site.condition(step.value('when'), `${step.path}/when`),
    admit: readAdmit(policy?.mapping('admit'), site),
    input,
    tool,
    loop,
    assignments: readSets(step, site),
    next: readNext(step, { site, stepName: name, stepIndex: context.stepIndex, nextMode: readNextMode(spec) }),
    onError: spec?.oneOf('on_error', ['fail', 'continue']) ?? 'fail',
    failureMode: failure?.oneOf('mode', FAILURE_MODES) ?? context.failureMode,
    timeoutMs: spec === undefined ? undefined : readTimeoutMs(spec, 'timeout', site),
    selections: [...stepSelections(step, site), ...(tool?.selections ?? [])],
  }
}

function readTool(step: Reader, name: string, input: StepPlan['input'], context: StepContext): ToolPlan | undefined {
  const { site } = context
  const pointer = `${step.path}/tool`
  const value = step.value('tool')
  if (value === undefined)
    return site.problems.error(pointer, `${name === '' ? 'the step' : `step ${JSON.stringify(name)}`} has no tool`)
  const output = step.value('output')
  const placed = output === undefined ? undefined : { value: output, pointer: `${step.path}/output` }
  const tool = planTool(value, pointer, { output: placed, args: argumentLayers(step) }, context)
  if (tool === undefined || input === undefined) return tool
  return withInput(tool, input, site)
}

/** A tool whose input holds secrets cannot run in the engine, and nothing may copy them there. */
function withInput(tool: ToolPlan, input: NonNullable<StepPlan['input']>, site: PlanSite): ToolPlan {
  const deferred = deferredTemplates(input)
  if (deferred.length === 0) return tool
  const secret = new Set(input.deferred.map(({ pointer }) => pointer.split('/')[1]))
  for (const { pointer, template } of [...tool.config.templates, ...(tool.args?.templates ?? [])]) {
    const copied = template.paths.find(
      ({ root, keys }) => (root === 'input' || root === 'args') && (keys[0] === undefined || secret.has(keys[0])),
    )
    if (copied === undefined) continue
    site.problems.error(
      tool.pointer,
      `${pointer} copies ${[copied.root, ...copied.keys].join('.')}, which is only known where the tool runs; read the keychain there`,
    )
  }
  return { ...tool, native: undefined, workerReads: [...tool.workerReads, ...workerReads(deferred)] }
}

/** Of a row that was worked on nothing is kept: there may be any number of them. */
function warnOfLostSets(step: Reader, site: PlanSite): void {
  const tool = step.value('tool')
  const tasks = Array.isArray(tool) ? tool.map((task, index) => [task, `/${index}`] as const) : [[tool, ''] as const]
  for (const [task, place] of tasks) {
    const set = isJsonObject(task) ? task['set'] : undefined
    for (const key of isJsonObject(set) ? Object.keys(set) : []) {
      const pointer = `${step.path}/tool${place}/set/${escapeSegment(key)}`
      if (/^(?:ctx|vars)\./.test(key)) site.problems.warn(pointer, LOST)
    }
  }
}

const LOST = 'is not kept: rows of a cursor are worked on for their effect; write it to a table, or set it in the step'

function readSets(step: Reader, site: PlanSite): Assignment[] {
  const set = readAssignments(step.value('set'), { pointer: `${step.path}/set`, bare: 'ctx', by: 'engine' }, site)
  const vars = readAssignments(step.value('vars'), { pointer: `${step.path}/vars`, bare: 'vars', by: 'engine' }, site)
  for (const { scope, pointer } of set) {
    if (scope === 'iter' && !step.has('loop')) site.problems.warn(pointer, 'iter is lost: the step has no loop')
  }
  return [...set, ...vars]
}

function readAdmit(admit: Reader | undefined, site: PlanSite): AdmitRule[] {
  warnUnknownKeys(admit, ADMIT_KEYS, site)
  return (admit?.mappings('rules') ?? []).flatMap((rule): AdmitRule[] => {
    warnUnknownKeys(rule, RULE_KEYS, site)
    const otherwise = rule.mapping('else')
    const then = otherwise === undefined ? rule.mapping('then') : (otherwise.mapping('then') ?? otherwise)
    const allow = then?.boolean('allow')
    if (then === undefined || !then.has('allow')) {
      site.problems.error(rule.path, 'does not say whether to admit; write then: {allow: true} or {allow: false}')
    }
    const when = otherwise === undefined ? site.condition(rule.value('when'), `${rule.path}/when`) : undefined
    return allow === undefined ? [] : [{ when, allow }]
  })
}
