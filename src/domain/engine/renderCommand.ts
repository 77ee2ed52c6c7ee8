// A command before it is issued: configuration and arguments of its tool rendered, and what the worker will need to render
// the rest.

import { asStored } from '../json/asStored.js'
import { escapeSegment } from '../json/pointer.js'
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import { needsSecrets } from '../playbook/deferral.js'
import type { ChildPlan, ConfigTree, NativeTool, ToolPlan } from '../playbook/plan.js'
import type { TemplatePath } from '../template/readPaths.js'
import type { PlacedTemplate } from '../template/tree.js'
import type { Board, LiveVisit } from './board.js'
import { type EngineContext, enterContext, type Locals } from './engineContext.js'
import { engineError, StepFailure } from './engineError.js'
import { handedOn, requirePaths } from './references.js'
import { renderCount, renderMap, renderTree } from './render.js'

export interface Rendered {
  readonly config: JsonObject
  readonly args: JsonObject
  readonly renderContext: JsonObject
  /** JSON pointers of the templates that were left to the worker. */
  readonly deferred: readonly string[]
  /** Likewise, of keys; the value at the same pointer is not meant. */
  readonly deferredKeys: readonly string[]
  /** JSON pointers of references that the worker resolves. */
  readonly references: readonly string[]
  /** Roots of the render context that are data of a step. */
  readonly stepNames: readonly string[]
  /** Entries of the keychain that its templates may open; undefined when they open none. */
  readonly keychain: readonly JsonObject[] | undefined
  readonly handling: Handling
  readonly timeoutMs: number | undefined
}

/** `native`: the engine has its data already. `refused`: it failed before it began. Neither has a row. */
export type Handling =
  | { readonly type: 'worker' | 'playbook' | 'refused' }
  | { readonly type: 'native'; readonly data: JsonValue }

/** Throws a StepFailure when a template cannot be rendered. */
export function renderCommand(
  board: Board,
  live: LiveVisit,
  tool: ToolPlan,
  locals: Locals = new Map(),
  variables: JsonObject = {},
): Rendered {
  const { step } = live
  const bare = enterContext(board, live.arrivals, locals)
  const given = arcArgs(live)
  const input = { ...(step.input === undefined ? {} : argsOf(step.input, bare, step.pointer)), ...given }
  const named = new Map([...locals, ['input', () => input] as const, ['args', () => input] as const])
  const context = enterContext(board, live.arrivals, named)
  const { native } = tool
  const timeoutMs = step.timeoutMs
  if (native?.type === 'noop' && board.input.settings.nativeNoop) {
    const handling: Handling = { type: 'native', data: noopData(native, context, tool.pointer) }
    return { ...NOTHING_DEFERRED, config: { kind: tool.kind }, args: { ...input, ...variables }, handling, timeoutMs }
  }
  if (native?.type === 'playbook') return renderChild(live, tool, native.child, context, { input, given })
  const own = tool.args === undefined ? {} : argsOf(tool.args, context, tool.pointer)
  const layers = [
    { tree: step.input, over: { ...own, ...given, ...variables } },
    { tree: tool.args, over: { ...given, ...variables } },
  ]
  const left = (pick: (tree: ConfigTree) => readonly PlacedTemplate[]): string[] => [
    ...pick(tool.config).map(({ pointer }) => `/tool_config${pointer}`),
    ...layers.flatMap(({ tree, over }) => (tree === undefined ? [] : uncovered(pick(tree), over))),
  ]
  const opensKeychain = board.plan.keychain.length > 0 && mayOpenKeychain(step.input, tool)
  return {
    config: renderTree(tool.config, context, tool.pointer, true) as JsonObject,
    args: { ...input, ...own, ...given, ...variables },
    renderContext: renderContextOf(board, live, tool, context, opensKeychain),
    deferred: left((tree) => tree.deferred),
    deferredKeys: left((tree) => tree.deferredKeys),
    references: left((tree) => handedOn(context, tree.templates)),
    stepNames: [...new Set(tool.workerReads.map(({ root }) => root))].filter((root) => isStep(context, root)),
    keychain: opensKeychain ? board.plan.keychain : undefined,
    handling: { type: 'worker' },
    timeoutMs,
  }
}

const NOTHING_DEFERRED = {
  renderContext: {},
  deferred: [],
  deferredKeys: [],
  references: [],
  stepNames: [],
  keychain: undefined,
} as const

/** Policies and sets of tasks are not looked into: a list of tasks may open it. */
function mayOpenKeychain(input: ConfigTree | undefined, tool: ToolPlan): boolean {
  if (tool.tasks.length > 0) return true
  return [input, tool.config, tool.args].some(
    (tree) =>
      tree !== undefined && [...tree.deferred, ...tree.deferredKeys].some(({ template }) => needsSecrets(template)),
  )
}

function isStep(context: EngineContext, root: string): boolean {
  return context.visitOf(root) !== undefined && !RESULT_ROOTS.has(root)
}

/** They mean a visit too, but are no names of steps. */
const RESULT_ROOTS: ReadonlySet<string> = new Set(['output', 'result'])

function argsOf(tree: ConfigTree, context: EngineContext, pointer: string): JsonObject {
  return renderTree(tree, context, pointer, true) as JsonObject
}

/** Arguments of the arcs that led here, the last one strongest. */
function arcArgs({ arrivals }: LiveVisit): JsonObject {
  const merged: JsonObject = {}
  for (const { args } of arrivals) {
    for (const key of Object.keys(args ?? {})) setKey(merged, key, args?.[key] as JsonValue)
  }
  return merged
}

/** A key that something stronger overwrites takes its deferred templates away with it. */
function uncovered(templates: readonly PlacedTemplate[], over: JsonObject): string[] {
  const keys = new Set(Object.keys(over).map(escapeSegment))
  return templates
    .filter(({ pointer }) => !keys.has(pointer.split('/')[1] ?? ''))
    .map(({ pointer }) => `/args${pointer}`)
}

type Noop = Extract<NativeTool, { type: 'noop' }>

function noopData({ message, result }: Noop, context: EngineContext, pointer: string): JsonValue {
  if (result !== undefined) return asStored(renderTree(result, context, pointer))
  return { message: message === undefined ? 'noop' : asStored(renderTree(message, context, pointer)), status: 'ok' }
}

/** Nobody can claim such a command: whoever starts executions reads from it what to start, and answers it. */
function renderChild(
  { step }: LiveVisit,
  { pointer }: ToolPlan,
  child: ChildPlan,
  context: EngineContext,
  { input, given }: { input: JsonObject; given: JsonObject },
): Rendered {
  const config: JsonObject = { kind: 'playbook', waits: child.waits, return_result: child.returnResult }
  const parts = { path: child.path, catalog_id: child.catalogId, version: child.version, return_step: child.returnStep }
  for (const [key, tree] of Object.entries(parts)) {
    if (tree !== undefined) config[key] = renderTree(tree, context, `${pointer}/${key}`)
  }
  if ([config['path'], config['catalog_id']].every((value) => value === undefined || value === null || value === '')) {
    throw new StepFailure(engineError('config', `step "${step.name}" names no playbook: its path is empty`))
  }
  const seconds = renderCount(child.timeoutSeconds, context, `${pointer}/timeout`)
  return {
    ...NOTHING_DEFERRED,
    config,
    // The payload of the child, and nothing else: variables of a loop are passed on by those who name them.
    args: { ...input, ...renderMap(child.payload, context, pointer), ...given },
    handling: { type: 'playbook' },
    timeoutMs: step.timeoutMs ?? (child.waits ? seconds * 1000 : undefined),
  }
}

/** Roots that mean something else, or nothing, before the tool runs. */
const WORKER_ROOTS: ReadonlySet<string> = new Set(['output', 'keychain', '_prev', 'results'])

/** Only what the worker will read, cut out of its roots. */
function renderContextOf(
  board: Board,
  live: LiveVisit,
  tool: ToolPlan,
  context: EngineContext,
  opensKeychain: boolean,
): JsonObject {
  const reads = opensKeychain ? [...tool.workerReads, ...board.plan.keychainReads] : tool.workerReads
  requirePaths(
    context,
    reads.filter(({ root }) => !WORKER_ROOTS.has(root)),
  )
  const whole: JsonObject = {
    execution_id: board.executionId,
    step: live.step.name,
    job: context.get('job') as JsonValue,
  }
  if (tool.wantsWholeContext || board.input.settings.fullContext) return { ...wholeContext(board, context), ...whole }
  for (const path of reads) {
    if (!WORKER_ROOTS.has(path.root)) cut(whole, path, context)
  }
  return whole
}

function wholeContext(board: Board, context: EngineContext): JsonObject {
  const roots: JsonObject = { ...board.workload, ...board.ctx }
  for (const { name } of board.plan.steps) {
    if (context.visitOf(name) !== undefined) setKey(roots, name, context.get(name) ?? null)
  }
  for (const name of ['workload', 'ctx', 'vars', 'path', 'version', 'playbook', 'catalog_id', 'parent_execution_id']) {
    const value = context.get(name)
    if (value !== undefined) roots[name] = value
  }
  for (const name of ['result', 'iter', 'event']) {
    const value = context.get(name)
    if (value !== undefined) roots[name] = value
  }
  return roots
}

function cut(into: JsonObject, { root, keys }: TemplatePath, context: EngineContext): void {
  let value = context.get(root)
  let target = into
  let name = root
  for (const key of keys) {
    if (value === undefined) return
    // A list cannot be cut: it is passed on as it is.
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) break
    const part = Object.hasOwn(target, name) ? target[name] : undefined
    const inner: JsonObject = isJsonObject(part) ? part : {}
    if (part === undefined) setKey(target, name, inner)
    else if (part !== inner) return
    target = inner
    name = key
    value = value[key]
  }
  if (value === undefined) return
  if (!Object.hasOwn(target, name) || !isJsonObject(value)) setKey(target, name, value)
  else setKey(target, name, { ...(target[name] as JsonObject), ...value })
}
