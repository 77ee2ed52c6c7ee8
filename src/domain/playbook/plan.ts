// What the engine works from: a playbook taken apart once, with every template compiled and every question about the
// graph answered. A plan never changes and holds no state of an execution; steps and arcs are named by their index.
//
// A plan is made of closures, so it cannot be sent to another thread: the text of the document is, see planOf.ts.

import type { JsonObject, JsonValue } from '../json/value.js'
import type { Condition } from '../template/condition.js'
import type { LoopList } from '../template/loopList.js'
import type { TemplatePath } from '../template/readPaths.js'
import type { Template } from '../template/template.js'
import type { CompiledTree } from '../template/tree.js'

/** Goes up when the same document would be executed differently. */
export const PLAN_VERSION = 1

export interface Plan {
  readonly version: typeof PLAN_VERSION
  /** `metadata.name`. */
  readonly name: string
  /** The defaults; the payload of a start overlays them key by key. */
  readonly workload: JsonObject
  /** Those of them that hold templates. */
  readonly workloadDefaults: readonly WorkloadDefault[]
  /** A map; rendered once at the start, against the merged workload. */
  readonly vars: CompiledTree | undefined
  /** As written: only workers look at it. */
  readonly keychain: readonly JsonObject[]
  /** What the entries of the keychain read of the context. */
  readonly keychainReads: readonly TemplatePath[]
  readonly steps: readonly StepPlan[]
  readonly stepIndex: ReadonlyMap<string, number>
  readonly entry: number
  /** Run once when everything else has ended. */
  readonly finalStep: number | undefined
  /** A step whose arcs all stay false fails the execution; `end` and the final step are exempt. */
  readonly noNextIsError: boolean
  readonly profile: Profile
  readonly requires: { readonly tools: readonly string[]; readonly features: readonly string[] }
  /** Of the whole execution. */
  readonly timeoutMs: number | undefined
  readonly graph: PlanGraph
}

/** A default of the workload that is rendered at the start. */
export interface WorkloadDefault {
  readonly key: string
  readonly source: JsonValue
  readonly tree: CompiledTree
}

export type Profile = 'local' | 'distributed' | 'auto'

export interface StepPlan {
  readonly index: number
  readonly name: string
  /** JSON pointer of the step in the document, for messages. */
  readonly pointer: string
  readonly when: Condition | undefined
  /**
   * `input` and `args` of the step: a map that is rendered first. Arguments of the arc that led here go over it, and the
   * templates of the tool read the outcome as `input` and `args`.
   */
  readonly input: ConfigTree | undefined
  readonly tool: ToolPlan
  /** The first rule that is met decides; none means admitted. */
  readonly admit: readonly AdmitRule[]
  readonly loop: LoopPlan | undefined
  /** `set`, then `vars`, in document order; rendered all at once, against the values before any of them. */
  readonly assignments: readonly Assignment[]
  readonly next: NextPlan
  readonly onError: 'fail' | 'continue'
  /** The step's own mode, else that of the executor. */
  readonly failureMode: FailureMode
  /** From command.issued to its end. */
  readonly timeoutMs: number | undefined
  /** Parts of its data that have names of their own. */
  readonly selections: readonly Selection[]
}

export interface Selection {
  readonly name: string
  readonly path: readonly (string | number)[]
}

export type FailureMode = 'fail_fast' | 'best_effort'

export interface AdmitRule {
  /** Undefined: always met. */
  readonly when: Condition | undefined
  readonly allow: boolean
}

export type Scope = 'ctx' | 'vars' | 'step' | 'iter'

export interface Assignment<S extends string = Scope> {
  readonly scope: S
  /** Below the scope; `ctx.a.b` has two parts. Never empty. */
  readonly path: readonly string[]
  readonly value: CompiledTree
  readonly pointer: string
}

// --- tools ----------------------------------------------------------------------------------------------------------

export interface ToolPlan {
  /** For events and tables: the kind as written, `task_sequence` for a list of tasks. */
  readonly kind: string
  /** What the worker is asked to do: the kind, or `task_sequence` also for one tool with a policy of its own. */
  readonly action: string
  readonly pointer: string
  /** Set when the engine runs it itself, without a command to a worker. */
  readonly native: NativeTool | undefined
  /** The whole `tool_config` of the command with its `kind`, without the arguments of a single tool. */
  readonly config: ConfigTree
  /** `input` and `args` of a single tool: a map that goes over the input of the step. Tasks of a list keep theirs. */
  readonly args: ConfigTree | undefined
  /** The tasks of a list, in order; empty for a single tool, also one with a policy. */
  readonly tasks: readonly TaskPlan[]
  /** Every kind of tool that runs, sorted; a pool must offer all of them. */
  readonly kinds: readonly string[]
  /** What the worker will read from `render_context`: for deferred templates, policies, evals and sets of tasks. */
  readonly workerReads: readonly TemplatePath[]
  /** Its code names `context`, `variables` or `ctx`: the worker needs every root. */
  readonly wantsWholeContext: boolean
  /** What the tool itself selects from its data; those of the step stand before them. */
  readonly selections: readonly Selection[]
}

export interface TaskPlan {
  readonly label: string
  readonly kind: string
  readonly pointer: string
}

export type NativeTool =
  | { readonly type: 'noop'; readonly message: CompiledTree | undefined; readonly result: CompiledTree | undefined }
  | { readonly type: 'playbook'; readonly child: ChildPlan }

/**
 * A value with templates of which some are left as text, to be rendered by the worker. Their pointers hold before and after
 * rendering. A top-level key that something stronger overwrites takes its deferred templates away with it.
 */
export type ConfigTree = CompiledTree

/** A playbook started by a step. Exactly one of path and catalogId is there. */
export interface ChildPlan {
  readonly path: CompiledTree | undefined
  readonly catalogId: CompiledTree | undefined
  readonly version: CompiledTree | undefined
  /** A map: args under input under payload; it goes over the input of the step. */
  readonly payload: CompiledTree | undefined
  /** Whose data is the result. */
  readonly returnStep: CompiledTree | undefined
  readonly returnResult: boolean
  /** Whether the step ends when the child ends. */
  readonly waits: boolean
  readonly timeoutSeconds: Count
}

// --- loops ----------------------------------------------------------------------------------------------------------

export type LoopPlan = ListLoop | CursorLoop

interface LoopBase {
  /** The name of the item in templates. */
  readonly iterator: string
  readonly pointer: string
  readonly failureMode: FailureMode
}

export interface ListLoop extends LoopBase {
  readonly mode: 'parallel' | 'sequential'
  readonly list: LoopList
  /** As written, for messages. */
  readonly source: JsonValue
  /** 1 when sequential. Undefined: the setting decides. */
  readonly maxInFlight: Count | undefined
}

export interface CursorLoop extends LoopBase {
  readonly mode: 'cursor'
  /** Asks for the rows of one frame; its templates may read `__frame_max_rows`. */
  readonly claim: ToolPlan
  /** How many frames may overlap. */
  readonly maxInFlight: Count
  readonly frame: FramePlan
}

export interface FramePlan {
  readonly maxRows: Count
  readonly rowConcurrency: Count
  readonly maxSeconds: Count
  readonly leaseSeconds: Count
  readonly heartbeatSeconds: Count
  /** One body per row, or one per frame with the list of rows as its item. */
  readonly process: 'row' | 'frame'
  readonly maxAttempts: Count
}

/** A number at least 1, or a template that must give one. */
export type Count = number | Template

// --- arcs -----------------------------------------------------------------------------------------------------------

export interface NextPlan {
  readonly mode: 'exclusive' | 'inclusive'
  readonly onNoMatch: 'complete' | 'quiet' | 'fail'
  readonly arcs: readonly ArcPlan[]
}

export interface ArcPlan {
  /** Its place among the arcs of its step. */
  readonly index: number
  readonly pointer: string
  readonly targetName: string
  /** Undefined: `end` without a step of that name; the branch ends. */
  readonly target: number | undefined
  readonly when: Condition | undefined
  /** Whether the guard reads event, error, or status or error of this step: only such arcs take part after a failure. */
  readonly readsFailure: boolean
  readonly assignments: readonly Assignment[]
  /** A map that goes over the arguments of the target. */
  readonly args: CompiledTree | undefined
  readonly isBack: boolean
}

// --- graph ----------------------------------------------------------------------------------------------------------

export interface PlanGraph {
  /** Whether one or more arcs, back arcs included, lead from one step to another (or back to itself). */
  reaches(from: number, to: number): boolean
  /**
   * Whether `target` waits while `other` is live or arrived at: `other` reaches it on a path without a back arc into a
   * loop that contains it. Never true of a step and itself.
   */
  holdsBack(other: number, target: number): boolean
  /** Whether a step is in the loop of a header, the target of a back arc; the header itself is. */
  isInLoop(header: number, step: number): boolean
}

// --- problems -------------------------------------------------------------------------------------------------------

export interface Problem {
  /** JSON pointer into the document. */
  readonly pointer: string
  readonly severity: 'error' | 'warning'
  readonly message: string
}

/** There is a plan unless a problem is an error. */
export interface Planned {
  readonly plan: Plan | undefined
  readonly problems: readonly Problem[]
}
