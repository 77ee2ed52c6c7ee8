// The tool of a step: what goes into its command, what is left to the worker, and whether the engine can run it by itself.

import type { Reader } from '../catalog/violation.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import type { Template } from '../template/template.js'
import type { CompiledTree } from '../template/tree.js'
import { readAssignments } from './assignments.js'
import { checkChild, readChild } from './child.js'
import { PipelineNames } from './deferral.js'
import { warnUnknownToolKeys } from './knownKeys.js'
import type { Assignment, NativeTool, ToolPlan } from './plan.js'
import { policyTemplates, readPolicy } from './policy.js'
import { toolSelections } from './selections.js'
import type { PlanSite } from './site.js'
import { textOptionsOf } from './textFields.js'
import type { ToolContext } from './toolContext.js'
import { ownFields, type Placed, type TaskSource, type ToolSource } from './toolSource.js'
import { argumentTree, fixedLayer, keyLayer, listTree, mergeLayers } from './trees.js'
import { deferredTemplates, workerReads } from './workerReads.js'

const SEQUENCE = 'task_sequence'

/** Left as written: the worker reads them, or nobody renders them. */
const LEFT: ReadonlySet<string> = new Set([
  '/kind',
  '/name',
  '/desc',
  '/set',
  '/vars',
  '/eval',
  '/retry',
  '/spec/policy',
])

const CODE_KINDS: ReadonlySet<string> = new Set(['python', 'rhai', 'wasm', 'script'])

/** What flow control of one task reads and writes. */
interface Flow {
  readonly templates: readonly Template[]
  readonly assignments: readonly Assignment<string>[]
}

/** What a step says about its tool. */
export interface AroundTool {
  readonly output: Placed | undefined
  readonly args: readonly Placed[]
}

export function planTool(
  value: JsonValue,
  pointer: string,
  { output, args }: AroundTool,
  context: ToolContext,
): ToolPlan | undefined {
  const source = context.tools.read(value, pointer, args)
  if (source === undefined) return undefined
  return new ToolPlanner(source, pointer, output, context).plan()
}

class ToolPlanner {
  private readonly site: PlanSite
  private readonly flows: readonly Flow[]
  private readonly names: PipelineNames

  constructor(
    private readonly source: ToolSource,
    private readonly pointer: string,
    private readonly stepOutput: Placed | undefined,
    private readonly context: ToolContext,
  ) {
    this.site = context.site
    const labels = new Set(source.tasks.map(({ label }) => label))
    if (!source.isSingle) for (const label of labels) this.site.names.add(label)
    this.flows = source.tasks.map((task) => this.flow(task, labels))
    this.names = new PipelineNames(
      labels,
      this.flows.flatMap(({ assignments }) => assignments),
      !source.isSingle,
    )
  }

  plan(): ToolPlan {
    const { tasks, isSingle } = this.source
    const [first] = tasks as [TaskSource]
    for (const { kind, tool } of tasks) {
      warnUnknownToolKeys(kind, tool, this.site)
      if (kind === 'playbook') checkChild(tool, this.site)
    }
    const isSequence = !isSingle || hasFlow(first)
    const config = isSequence ? this.sequence() : this.single(first)
    const args = isSequence ? this.args(this.source.args) : this.args(first.args)
    return {
      kind: isSingle ? first.kind : SEQUENCE,
      action: isSequence ? SEQUENCE : first.kind,
      pointer: this.pointer,
      native: isSequence ? undefined : this.native(first, [config, args]),
      config,
      args,
      tasks: isSingle ? [] : tasks.map(({ label, kind, tool }) => ({ label, kind, pointer: tool.path })),
      kinds: [...new Set(tasks.map(({ kind }) => kind))].sort(),
      workerReads: workerReads(
        [...deferredTemplates(config), ...deferredTemplates(args), ...this.flows.flatMap(({ templates }) => templates)],
        this.names,
      ),
      wantsWholeContext: tasks.some(readsContext),
      selections: toolSelections(this.source, this.site),
    }
  }

  /** A list of tasks, or one with flow control: its data is then not wrapped in its label. */
  private sequence(): CompiledTree {
    const { tasks, isSingle } = this.source
    const trees = tasks.map((task) => {
      const input = this.args(task.args)
      const layers = [fixedLayer({ name: task.label }), ...this.layers(task)]
      return mergeLayers(input === undefined ? layers : [...layers, keyLayer('input', input)])
    })
    const head = isSingle ? { kind: SEQUENCE, unwrapped: true } : { kind: SEQUENCE }
    const layers = [fixedLayer(head), keyLayer('tasks', listTree(trees))]
    if (this.stepOutput === undefined) return mergeLayers(layers)
    const { value, pointer } = this.stepOutput
    return mergeLayers([...layers, keyLayer('output', this.site.tree(value, pointer))])
  }

  private single(task: TaskSource): CompiledTree {
    const layers = this.layers(task)
    if (this.stepOutput === undefined || task.tool.has('output')) return mergeLayers(layers)
    const { value, pointer } = this.stepOutput
    return mergeLayers([...layers, keyLayer('output', this.site.tree(value, pointer))])
  }

  private layers({ kind, tool }: TaskSource) {
    const own = ownFields(tool.raw())
    const tree = this.site.tree(own, tool.path, {
      textOptions: textOptionsOf(kind),
      isLeft: (place) => LEFT.has(place),
      isDeferred: (template) => this.names.defers(template),
    })
    const layers = [{ tree, keys: Object.keys(own) }]
    const waits = kind === 'playbook' && this.context.profile === 'local' && !tool.has('wait')
    return waits ? [...layers, fixedLayer({ wait: true })] : layers
  }

  private args(layers: readonly Placed[]): CompiledTree | undefined {
    return argumentTree(layers, this.site, { isDeferred: (template) => this.names.defers(template) })
  }

  private flow({ tool }: TaskSource, labels: ReadonlySet<string>): Flow {
    const policy = readPolicy(tool, labels, this.site)
    const bare = this.source.isSingle ? 'ctx' : 'local'
    const set = readAssignments(tool.value('set'), { pointer: `${tool.path}/set`, bare, by: 'worker' }, this.site)
    const vars = { pointer: `${tool.path}/vars`, bare: 'vars', by: 'worker' } as const
    const own = [...set, ...readAssignments(tool.value('vars'), vars, this.site)]
    return {
      templates: [...policyTemplates(policy), ...own.flatMap(templatesOf)],
      assignments: [...own, ...(policy?.rules ?? []).flatMap(({ assignments }) => assignments)],
    }
  }

  /** What the engine runs without a worker: nothing may be left for one to do. */
  private native(task: TaskSource, trees: readonly (CompiledTree | undefined)[]): NativeTool | undefined {
    const { kind, tool } = task
    if (trees.some((tree) => deferredTemplates(tree).length > 0)) return undefined
    if (kind === 'playbook') return { type: 'playbook', child: readChild(task, this.context) }
    if (kind !== 'noop') return undefined
    // A result that is written as null is one.
    return {
      type: 'noop',
      message: this.field(tool, 'message'),
      result: this.field(tool, 'result', tool.raw()['result']),
    }
  }

  private field(tool: Reader, key: string, value = tool.value(key)): CompiledTree | undefined {
    return value === undefined ? undefined : this.site.tree(value, `${tool.path}/${key}`)
  }
}

function templatesOf({ value }: Assignment<string>): Template[] {
  return value.templates.map(({ template }) => template)
}

/** Whether the worker has more to do with this one tool than to run it. */
function hasFlow({ kind, tool }: TaskSource): boolean {
  if (tool.has('eval') || tool.has('set') || tool.has('vars')) return true
  if (kind === 'playbook' && tool.has('retry')) return true
  const spec = tool.value('spec')
  return isJsonObject(spec) && spec['policy'] !== undefined && spec['policy'] !== null
}

function readsContext({ kind, tool }: TaskSource): boolean {
  if (!CODE_KINDS.has(kind)) return false
  return codeTexts(tool.raw()).some((code) => /\b(?:context|variables)\b/.test(code) || readsCtx(code))
}

/** Code often has a `ctx` of its own. */
function readsCtx(code: string): boolean {
  return /\bctx\s*[.[]/.test(code) && !/\bctx\s*=(?!=)/.test(code)
}

function codeTexts(tool: JsonObject): string[] {
  const script = tool['script']
  const source = isJsonObject(script) ? script['source'] : undefined
  const texts = [
    tool['code'],
    isJsonObject(script) ? script['code'] : script,
    isJsonObject(source) ? source['code'] : undefined,
  ]
  return texts.filter((text) => typeof text === 'string')
}
