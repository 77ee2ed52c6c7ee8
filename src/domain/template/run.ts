// One render in progress: where names come from, the variables of the template, and what may still be spent. Closures
// of a template share nothing else, so a template may be rendered while it is being rendered.

import type { JsonValue } from '../json/value.js'
import { LOOP_STEPS_MAX, TEXT_MAX, WORK_MAX } from './limits.js'
import { fault } from './templateError.js'

/** Undefined is what a name without a value gives; it is not null. */
export type TemplateValue = JsonValue | undefined

/** What a template may read. */
export interface TemplateContext {
  get(name: string): TemplateValue
  /** Whether this root is the data of a step: `<step>.result` is then the data itself, unless it has such a key. */
  isStep(name: string): boolean
  /** `status` or `error` of a step that ended, for data that has no keys of its own. */
  factOf?(step: string, name: 'status' | 'error'): TemplateValue
  /** What now() answers. */
  readonly nowMs: number
  /** Further names under which `event.name` may be asked for. */
  readonly isEventNamed?: (actual: string, wanted: string) => boolean
  /** What token(name) answers; only known where the tool runs. */
  readonly token?: ((name: string) => TemplateValue) | undefined
}

export const UNSET = Symbol('unset')
export type Slot = TemplateValue | typeof UNSET

export class Run {
  out = ''
  /** The value that a long path has reached. */
  piped: TemplateValue = undefined
  /** The place in the template that is being evaluated, for errors. */
  at = 0
  private stepsLeft = LOOP_STEPS_MAX
  private workLeft = WORK_MAX

  constructor(
    readonly context: TemplateContext,
    readonly slots: Slot[],
  ) {}

  write(text: string): void {
    this.out += text
    if (this.out.length > TEXT_MAX) fault(`the output grows beyond ${TEXT_MAX} characters`)
  }

  step(): void {
    if (--this.stepsLeft < 0) fault(`more than ${LOOP_STEPS_MAX} loop steps`)
  }

  charge(units: number): void {
    this.workLeft -= units
    if (this.workLeft < 0) fault('too much work for one template; take it apart or let a step do it')
  }

  chargeText(characters: number): void {
    this.charge(1 + (characters >> 4))
  }
}

export type Evaluate = (run: Run) => TemplateValue
