// Which templates of a tool only the worker can render: those that read secrets, and inside a pipeline those that read what
// comes into being there. Everything else is rendered by the engine when the command is issued.

import type { Template } from '../template/template.js'
import type { Assignment } from './plan.js'

/** Roots of the worker alone, in every tool. */
const SECRET_ROOT = 'keychain'
const SECRET_FUNCTION = 'token'
const PIPELINE_ROOTS: ReadonlySet<string> = new Set(['output', '_prev', 'results'])

/** What the tasks of one pipeline bring into being. */
export class PipelineNames {
  private readonly labels: ReadonlySet<string>
  private readonly roots: Set<string>
  /** By scope, the first part of every path that is written. */
  private readonly written = new Map<string, Set<string>>()

  constructor(
    labels: Iterable<string>,
    assignments: Iterable<Assignment<string>>,
    /** Several tasks hand results to each other; a single tool has nobody to take them from. */
    readonly hasTasks: boolean,
  ) {
    this.labels = new Set(hasTasks ? labels : [])
    this.roots = new Set(this.labels)
    for (const { scope, path } of assignments) {
      const name = path[0] as string
      if (scope === 'local') this.roots.add(name)
      const names = this.written.get(scope) ?? new Set()
      this.written.set(scope, names.add(name))
    }
    // A key of ctx can be read by its bare name.
    for (const name of this.written.get('ctx') ?? []) this.roots.add(name)
  }

  /** Whether only a worker that runs this pipeline can render it. */
  defers(template: Template): boolean {
    if (needsSecrets(template)) return true
    return template.paths.some(({ root, keys }) => {
      if (this.roots.has(root) || (this.hasTasks && PIPELINE_ROOTS.has(root))) return true
      const names = this.written.get(root)
      return names !== undefined && (keys[0] === undefined || names.has(keys[0]))
    })
  }

  /** Whether a root exists in the worker only, so that there is nothing to send along. */
  isWorkerOnly(root: string): boolean {
    return root === SECRET_ROOT || PIPELINE_ROOTS.has(root) || this.labels.has(root)
  }
}

export function needsSecrets(template: Template): boolean {
  return template.functions.has(SECRET_FUNCTION) || template.paths.some(({ root }) => root === SECRET_ROOT)
}
