// A context that is one JSON map: its keys are the roots.

import type { JsonObject } from '../json/value.js'
import type { TemplateContext, TemplateValue } from './run.js'

export class PlainContext implements TemplateContext {
  constructor(
    private readonly roots: JsonObject,
    private readonly steps: ReadonlySet<string>,
    readonly nowMs: number,
  ) {}

  get(name: string): TemplateValue {
    return Object.hasOwn(this.roots, name) ? this.roots[name] : undefined
  }

  isStep(name: string): boolean {
    return this.steps.has(name)
  }
}
