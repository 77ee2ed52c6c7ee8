// The tasks of a command: those of a pipeline with their labels, or the one tool of a step. What they read and set is read
// by the planner's own code, so that both mean the same.
import { escapeSegment } from '../../domain/json/pointer.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { readAssignments } from '../../domain/playbook/assignments.js'
import type { Assignment } from '../../domain/playbook/plan.js'
import { type Policy, readPolicy } from '../../domain/playbook/policy.js'
import { PlanSite } from '../../domain/playbook/site.js'
import type { WorkerScope } from '../../domain/tool/scopedValues.js'
import type { ToolCommand } from '../../domain/tool/toolCommand.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'

export interface Task {
  readonly name: string
  readonly kind: string
  readonly config: JsonObject
  /** JSON pointer of its configuration. */
  readonly pointer: string
  readonly policy: Policy | undefined
  /** Applied when the task has ended: `set`, then `vars`. */
  readonly assignments: readonly Assignment<WorkerScope>[]
}

export interface TaskList {
  readonly tasks: readonly Task[]
  /** False for the one tool of a step: its data stands for itself. */
  readonly isLabelled: boolean
}

interface RawTask {
  readonly name: string
  readonly config: JsonObject
  readonly pointer: string
}

export function tasksOf({ toolConfig, step }: ToolCommand): TaskList {
  const isSequence = toolConfig['kind'] === 'task_sequence'
  const isLabelled = isSequence && toolConfig['unwrapped'] !== true
  const raw = isSequence ? sequence(toolConfig['tasks']) : [{ name: step, config: toolConfig, pointer: '/tool_config' }]
  const labels = new Set(raw.map(({ name }) => name))
  if (labels.size < raw.length) throw new ToolFailure('config', 'two tasks of the pipeline have the same label')
  const site = new PlanSite()
  const tasks = raw.map((task) => readTask(task, labels, isLabelled ? 'local' : 'ctx', site))
  const problem = site.problems.list().find(({ severity }) => severity === 'error')
  if (problem !== undefined) throw problemFailure(problem.pointer, problem.message)
  return { tasks, isLabelled }
}

function problemFailure(pointer: string, message: string): ToolFailure {
  const isTemplate = message.startsWith('template error')
  return new ToolFailure(isTemplate ? 'template' : 'config', isTemplate ? message : `${pointer}: ${message}`)
}

function sequence(items: JsonValue | undefined): RawTask[] {
  if (!Array.isArray(items) || items.length === 0) throw new ToolFailure('config', 'the pipeline has no tasks')
  return items.map((item, index) => rawTask(item, `/tool_config/tasks/${index}`, index))
}

/** `{name, kind, …}`, or `{label: {kind, …}}`. */
function rawTask(item: JsonValue, pointer: string, index: number): RawTask {
  if (!isJsonObject(item)) throw new ToolFailure('config', `task ${index + 1} of the pipeline is not a map`)
  const [label, ...others] = Object.keys(item)
  const only = label === undefined ? undefined : item[label]
  if (label !== undefined && others.length === 0 && isJsonObject(only)) {
    return { name: label, config: only, pointer: `${pointer}/${escapeSegment(label)}` }
  }
  const name = typeof item['name'] === 'string' && item['name'] !== '' ? item['name'] : `task_${index + 1}`
  return { name, config: item, pointer }
}

function readTask(raw: RawTask, labels: ReadonlySet<string>, bare: 'ctx' | 'local', site: PlanSite): Task {
  const { config, pointer, name } = raw
  const kind = config['kind']
  if (typeof kind !== 'string' || kind === '') throw new ToolFailure('config', `task "${name}" has no kind`)
  const reader = site.reader(config, pointer)
  const set = { pointer: `${pointer}/set`, bare, by: 'worker' } as const
  const vars = { pointer: `${pointer}/vars`, bare: 'vars', by: 'worker' } as const
  return {
    ...raw,
    kind,
    policy: readPolicy(reader, labels, site),
    assignments: [
      ...readAssignments(reader.value('set'), set, site),
      ...readAssignments(reader.value('vars'), vars, site),
    ],
  }
}
