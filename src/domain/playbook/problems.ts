// What is wrong with a playbook, each item with its place. A document is judged whole: its author gets every mistake at
// once. An error prevents execution, a warning does not.

import type { Violation } from '../catalog/violation.js'
import type { Problem } from './plan.js'

const PROBLEMS_MAX = 200
const NAMES_SHOWN = 10

/** Names for a message, few enough to read. */
export function listed(names: Iterable<string>): string {
  const all = [...names]
  const shown = all.slice(0, NAMES_SHOWN).join(', ')
  return all.length > NAMES_SHOWN ? `${shown}, …` : shown
}

export class Problems {
  private readonly errors: Problem[] = []
  private readonly warnings: Problem[] = []
  private readonly seen = new Set<string>()
  private isLenient = false

  get hasErrors(): boolean {
    return this.errors.length > 0
  }

  /** What is wrong in there prevents nothing. */
  leniently(read: () => unknown): void {
    this.isLenient = true
    try {
      read()
    } finally {
      this.isLenient = false
    }
  }

  error(pointer: string, message: string): undefined {
    if (this.isLenient) return this.warn(pointer, message)
    this.add(this.errors, { pointer, severity: 'error', message })
  }

  warn(pointer: string, message: string): undefined {
    this.add(this.warnings, { pointer, severity: 'warning', message })
  }

  /** What a Reader finds wrong is an error. */
  push({ path, message }: Violation): void {
    this.error(path, message)
  }

  /** Errors first, each group in the order it was found. */
  list(): Problem[] {
    const all = [...this.errors, ...this.warnings]
    if (all.length <= PROBLEMS_MAX) return all
    const { severity } = all[PROBLEMS_MAX] as Problem
    const rest = { pointer: '', severity, message: `${all.length - PROBLEMS_MAX} further problems are not listed` }
    return [...all.slice(0, PROBLEMS_MAX), rest]
  }

  /** The same place may be read twice: a workbook task is, once per use. */
  private add(list: Problem[], problem: Problem): void {
    const key = `${problem.severity} ${problem.pointer} ${problem.message}`
    if (this.seen.has(key)) return
    this.seen.add(key)
    list.push(problem)
  }
}
