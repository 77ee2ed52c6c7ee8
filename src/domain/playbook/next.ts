// Where a step leads. All forms become a list of arcs with a mode: the first true arc is taken, or every one.

import type { Reader } from '../catalog/violation.js'
import { isJsonObject, type JsonValue } from '../json/value.js'
import { readAssignments } from './assignments.js'
import { guardReadsFailure } from './failureReads.js'
import { ARC_KEYS, ROUTER_KEYS, ROUTER_SPEC_KEYS, warnUnknownKeys } from './knownKeys.js'
import type { ArcPlan, NextPlan } from './plan.js'
import type { PlanSite } from './site.js'
import { quoteHint, readStepName } from './stepName.js'
import { argumentTree } from './trees.js'

const MODES = ['exclusive', 'inclusive'] as const
const NO_MATCH = ['complete', 'quiet', 'fail'] as const
type Mode = (typeof MODES)[number]

/** `end` may be named without being a step: the branch ends there. */
const END = 'end'

export interface NextContext {
  readonly site: PlanSite
  readonly stepName: string
  readonly stepIndex: ReadonlyMap<string, number>
  /** `spec.next_mode` of the step. */
  readonly nextMode: Mode | undefined
}

/** An arc before its place in the graph is known. */
export type LooseArc = Omit<ArcPlan, 'isBack'>
export type LooseNext = Omit<NextPlan, 'arcs'> & { readonly arcs: readonly LooseArc[] }

export function readNextMode(spec: Reader | undefined): Mode | undefined {
  return spec?.oneOf('next_mode', MODES)
}

export function readNext(step: Reader, context: NextContext): LooseNext {
  const { site, nextMode } = context
  const value = step.value('next')
  const pointer = `${step.path}/next`
  const next = (mode: Mode, arcs: readonly LooseArc[]): LooseNext => ({ mode, onNoMatch: 'complete', arcs })
  if (value === undefined) return next('exclusive', [])
  if (typeof value === 'string') return next(nextMode ?? 'exclusive', readArcs([value], pointer, '', context))
  if (Array.isArray(value)) {
    const mode = nextMode ?? (value.every((item) => typeof item === 'string') ? 'inclusive' : 'exclusive')
    return checked(next(mode, readArcs(value, pointer, pointer, context)), site)
  }
  if (isJsonObject(value)) return checked(readRouter(site.reader(value, pointer), context), site)
  site.problems.error(pointer, quoteHint(value) ?? 'must be a step, a list of steps, or a mapping with arcs')
  return next('exclusive', [])
}

function readRouter(router: Reader, context: NextContext): LooseNext {
  const { site } = context
  warnUnknownKeys(router, ROUTER_KEYS, site)
  const spec = router.mapping('spec')
  warnUnknownKeys(spec, ROUTER_SPEC_KEYS, site)
  const arcs = router.value('arcs')
  const pointer = `${router.path}/arcs`
  if (!Array.isArray(arcs)) site.problems.error(pointer, 'must be a list of {step, when}')
  return {
    mode: spec?.oneOf('mode', MODES) ?? context.nextMode ?? 'exclusive',
    onNoMatch: spec?.oneOf('on_no_match', NO_MATCH) ?? 'complete',
    arcs: Array.isArray(arcs) ? readArcs(arcs, pointer, pointer, context) : [],
  }
}

/** `list` is empty when there is one arc only, written without a list. */
function readArcs(items: readonly JsonValue[], pointer: string, list: string, context: NextContext): LooseArc[] {
  return items.flatMap((item, index) => {
    const place = list === '' ? pointer : `${list}/${index}`
    const arc = readArc(item, place, index, context)
    return arc === undefined ? [] : [arc]
  })
}

function readArc(item: JsonValue, pointer: string, index: number, context: NextContext): LooseArc | undefined {
  const { site, stepName } = context
  if (typeof item === 'string') {
    const plain = { when: undefined, readsFailure: false, assignments: [], args: undefined }
    return { ...plain, index, pointer, ...targetOf(item, pointer, context) }
  }
  if (!isJsonObject(item)) {
    return site.problems.error(pointer, quoteHint(item) ?? 'must be the name of a step, or {step, when}')
  }
  const arc = site.reader(item, pointer)
  warnUnknownKeys(arc, ARC_KEYS, site)
  const name = readStepName(arc, 'step')
  const when = site.condition(arc.value('when'), `${pointer}/when`)
  const set = { pointer: `${pointer}/set`, bare: 'ctx', by: 'engine' } as const
  const args = arc.value('args')
  return {
    index,
    pointer,
    ...targetOf(name, `${pointer}/step`, context),
    when,
    readsFailure: when?.template !== undefined && guardReadsFailure(when.template, stepName),
    assignments: readAssignments(arc.value('set'), set, site),
    args: args === undefined ? undefined : argumentTree([{ value: args, pointer: `${pointer}/args` }], site),
  }
}

function targetOf(
  name: string | undefined,
  pointer: string,
  { site, stepIndex }: NextContext,
): Pick<ArcPlan, 'targetName' | 'target'> {
  const targetName = name ?? ''
  const target = stepIndex.get(targetName)
  if (name !== undefined && target === undefined && name !== END) {
    site.problems.error(pointer, `there is no step ${JSON.stringify(name)}`)
  }
  return { targetName, target }
}

function checked(next: LooseNext, site: PlanSite): LooseNext {
  const unguarded = next.arcs.find(({ when }) => isAlwaysMet(when))
  if (next.mode !== 'exclusive' || unguarded === undefined) return next
  for (const arc of next.arcs) {
    if (arc.index > unguarded.index) {
      site.problems.warn(
        arc.pointer,
        `is never taken: ${unguarded.pointer} before it has no guard and the mode is exclusive`,
      )
    }
  }
  return next
}

const NOTHING = { get: () => undefined, isStep: () => false, nowMs: 0 }

function isAlwaysMet(when: LooseArc['when']): boolean {
  return when === undefined || (when.template === undefined && when.isMet(NOTHING))
}
