// A parsed playbook into a plan, or into everything that is wrong with it. Every template is compiled here: a mistake in one
// is found before anything runs.

import type { Reader } from '../catalog/violation.js'
import { escapeSegment } from '../json/pointer.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { type ExecutorPlan, readExecutor } from './executor.js'
import { readGraph } from './graph.js'
import { TOP_KEYS, warnUnknownKeys } from './knownKeys.js'
import { type ArcPlan, PLAN_VERSION, type Plan, type PlanGraph, type Planned, type StepPlan } from './plan.js'
import { PlanSite } from './site.js'
import { type LooseStep, readStep } from './step.js'
import { readStepName } from './stepName.js'
import { planTool } from './tool.js'
import type { ToolContext } from './toolContext.js'
import { readWorkbook, ToolReader } from './toolSource.js'
import { warnUnknownRoots } from './unknownRoots.js'
import { workerReads } from './workerReads.js'
import { planWorkload } from './workload.js'

const API_VERSION = 'noetl.io/v2'
// The graph is kept as matrices of step by step.
const STEPS_MAX = 5_000

export function planDocument(document: JsonObject): Planned {
  const site = new PlanSite()
  const plan = new DocumentPlanner(document, site).plan()
  warnUnknownRoots(site)
  return { plan: site.problems.hasErrors ? undefined : plan, problems: site.problems.list() }
}

interface NamedStep {
  readonly name: string
  readonly reader: Reader
}

class DocumentPlanner {
  private readonly root: Reader

  constructor(
    document: JsonObject,
    private readonly site: PlanSite,
  ) {
    this.root = site.reader(document, '')
  }

  plan(): Plan | undefined {
    const { root, site } = this
    warnUnknownKeys(root, TOP_KEYS, site)
    if (root.value('apiVersion') !== API_VERSION) root.wrong('apiVersion', `must be ${API_VERSION}`)
    const kind = root.value('kind')
    if (typeof kind !== 'string' || kind.toLowerCase() !== 'playbook') root.wrong('kind', 'must be Playbook')
    const name = this.readMetadata()
    const workload = root.mapping('workload')?.raw() ?? {}
    const steps = this.readSteps()
    const stepIndex = firstByName(steps)
    for (const key of [...Object.keys(workload), ...stepIndex.keys()]) site.names.add(key)
    const vars = root.mapping('vars')?.raw()
    for (const key of Object.keys(vars ?? {})) site.names.add(key)
    const { keychain, keychainReads } = this.readKeychain()
    const executor = readExecutor(root, stepIndex, site)
    const context = this.toolContext(executor)
    const loose = steps.map((step, index) =>
      readStep(step.reader, index, step.name, { ...context, stepIndex, failureMode: executor.failureMode }),
    )
    checkWorkbook(context)
    if (loose.length === 0) return undefined
    const { graph, steps: placed } = this.placeSteps(loose, executor)
    const { failureMode: _failureMode, ...ends } = executor
    return {
      version: PLAN_VERSION,
      name,
      workload,
      workloadDefaults: planWorkload(workload, site),
      vars: vars === undefined ? undefined : site.tree(vars, '/vars'),
      keychain,
      keychainReads,
      steps: placed,
      stepIndex,
      ...ends,
      graph,
    }
  }

  private readMetadata(): string {
    const metadata = this.root.mapping('metadata')
    const labels = metadata?.value('labels')
    if (isJsonObject(labels)) {
      for (const [key, value] of Object.entries(labels)) {
        if (typeof value === 'string') continue
        this.site.problems.warn(`/metadata/labels/${escapeSegment(key)}`, 'is not text; labels are texts elsewhere')
      }
    }
    return metadata?.text('name') ?? metadata?.text('path') ?? ''
  }

  /** Steps without a name, or with the name of another, are read too: their other mistakes shall be found. */
  private readSteps(): NamedStep[] {
    const { site } = this
    const workflow = this.root.value('workflow')
    const wrong = (message: string): [] => {
      site.problems.error('/workflow', message)
      return []
    }
    if (!Array.isArray(workflow)) return wrong('must be a list of steps')
    if (workflow.length === 0) return wrong('is empty; a playbook needs at least one step')
    if (workflow.length > STEPS_MAX) return wrong(`has ${workflow.length} steps; at most ${STEPS_MAX} are accepted`)
    return workflow.flatMap((value: JsonValue, index) => {
      const pointer = `/workflow/${index}`
      if (isJsonObject(value)) {
        const reader = site.reader(value, pointer)
        return [{ name: readStepName(reader, 'step') ?? '', reader }]
      }
      site.problems.error(pointer, 'must be a mapping')
      return []
    })
  }

  private readKeychain(): Pick<Plan, 'keychain' | 'keychainReads'> {
    const entries = this.root.mappings('keychain') ?? []
    const trees = entries.map((entry) => {
      entry.text('name', 'required')
      return this.site.tree(entry.raw(), entry.path, { by: 'worker' })
    })
    return {
      keychain: entries.map((entry) => entry.raw()),
      keychainReads: workerReads(trees.flatMap(({ templates }) => templates.map(({ template }) => template))),
    }
  }

  private toolContext({ profile }: ExecutorPlan): ToolContext {
    const { site } = this
    const workbook = readWorkbook(this.root.value('workbook'), site)
    return { site, profile, tools: new ToolReader(workbook, site) }
  }

  private placeSteps(loose: readonly LooseStep[], executor: ExecutorPlan): { graph: PlanGraph; steps: StepPlan[] } {
    const arcs = loose.flatMap(({ index, next }) =>
      next.arcs.flatMap(({ target }) => (target === undefined ? [] : [{ from: index, to: target }])),
    )
    const { entry, finalStep } = executor
    const roots = finalStep === undefined ? [entry] : [entry, finalStep]
    const { graph, isBack } = readGraph(loose.length, arcs, roots)
    let arcIndex = 0
    const steps = loose.map((step): StepPlan => {
      const placed = step.next.arcs.map(
        (arc): ArcPlan => ({
          ...arc,
          isBack: arc.target !== undefined && (isBack[arcIndex++] as boolean),
        }),
      )
      // A step without a name cannot be led to, and has its error already.
      if (step.name !== '' && !roots.some((root) => root === step.index || graph.reaches(root, step.index))) {
        this.site.problems.warn(step.pointer, `step ${JSON.stringify(step.name)} cannot be reached`)
      }
      // A step without a tool is an error, and then there is no plan.
      return { ...step, tool: step.tool as StepPlan['tool'], next: { ...step.next, arcs: placed } }
    })
    return { graph, steps }
  }
}

function firstByName(steps: readonly NamedStep[]): Map<string, number> {
  const first = new Map<string, number>()
  for (const [index, { name, reader }] of steps.entries()) {
    const earlier = first.get(name)
    if (name === '') continue
    if (earlier === undefined) first.set(name, index)
    else reader.wrong('step', `${JSON.stringify(name)} is already the name of ${steps[earlier]?.reader.path}`)
  }
  return first
}

/** A task that nobody refers to is checked too; it may be unfinished. */
function checkWorkbook(context: ToolContext): void {
  const { problems } = context.site
  const { workbook, used } = context.tools
  for (const [name, { pointer, entry }] of workbook) {
    const tool = entry.value('tool')
    const check = (): unknown =>
      planTool(tool as JsonValue, `${pointer}/tool`, { output: undefined, args: [] }, context)
    if (tool === undefined) problems.error(`${pointer}/tool`, `workbook task ${JSON.stringify(name)} has no tool`)
    else if (used.has(name)) check()
    else problems.leniently(check)
  }
}
