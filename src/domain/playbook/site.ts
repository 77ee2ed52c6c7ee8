// What every part of the planner shares: the list of problems, and the way to compile a template so that its mistakes are
// reported at their place and what it reads is remembered. The same text is compiled once per plan.

import { Reader } from '../catalog/violation.js'
import type { JsonObject, JsonValue } from '../json/value.js'
import { type Condition, compileCondition } from '../template/condition.js'
import { compileLoopList, type LoopList } from '../template/loopList.js'
import { Template, type TemplateOptions } from '../template/template.js'
import { TemplateError } from '../template/templateError.js'
import { type CompiledTree, renderTree, type TreeOptions, type TreeProblem } from '../template/tree.js'
import type { Count } from './plan.js'
import { Problems } from './problems.js'

/** A template and who renders it: the engine, or the worker, which alone knows the keychain. */
export interface TemplateUse {
  readonly pointer: string
  readonly template: Template
  readonly by: 'engine' | 'worker'
  /** A guard written without braces. */
  readonly isBareGuard: boolean
}

type Compiled = Template | TemplateError

export interface SiteTreeOptions extends Omit<TreeOptions, 'problems' | 'compile'> {
  readonly by?: TemplateUse['by']
}

export class PlanSite {
  readonly problems = new Problems()
  readonly uses: TemplateUse[] = []
  /** Roots that the playbook brings into being: workload keys, steps, labels, iterators, what is set. */
  readonly names = new Set<string>()
  private readonly compiled = { text: new Map<string, Compiled>(), code: new Map<string, Compiled>() }

  reader(object: JsonObject, pointer: string): Reader {
    return new Reader(object, pointer, this.problems)
  }

  tree(source: JsonValue, pointer: string, { by = 'engine', ...options }: SiteTreeOptions = {}): CompiledTree {
    const problems: TreeProblem[] = []
    const tree = renderTree(source, { ...options, problems, compile: this.compile })
    this.report(problems, pointer)
    for (const placed of tree.templates) this.use(pointer + placed.pointer, placed.template, by)
    for (const placed of tree.deferred) this.use(pointer + placed.pointer, placed.template, 'worker')
    for (const placed of tree.deferredKeys) this.use(pointer + placed.pointer, placed.template, 'worker')
    return { ...tree, templates: tree.templates.map((one) => ({ ...one, place: pointer + one.pointer })) }
  }

  /** Templates that cannot be read, or that `isLeft` names, stay the texts they are. */
  looseTree(source: JsonValue, pointer: string, isLeft: (template: Template) => boolean): CompiledTree {
    const problems: TreeProblem[] = []
    const tree = renderTree(source, { problems, compile: this.compile, isDeferred: isLeft })
    for (const { pointer: below, error } of problems) this.warnOfBraces(pointer + below, error)
    for (const placed of tree.templates) this.use(pointer + placed.pointer, placed.template, 'engine')
    for (const placed of [...tree.deferred, ...tree.deferredKeys]) {
      this.problems.warn(
        pointer + placed.pointer,
        'reads what is not known when an execution starts, and stays as text',
      )
    }
    return tree
  }

  /** Undefined when there is no guard, or none that can be read. */
  condition(source: JsonValue | undefined, pointer: string, by: TemplateUse['by'] = 'engine'): Condition | undefined {
    if (source === undefined) return undefined
    try {
      const condition = compileCondition(source)
      const { template } = condition
      if (template !== undefined) this.use(pointer, template, by, isName(source))
      if (comparesOutside(source))
        this.problems.warn(
          pointer,
          'compares outside of the braces: it is a text, which is true whatever it says; write {{ n > 2 }}, not {{ n }} > 2',
        )
      return condition
    } catch (error) {
      return this.refuse(error, pointer)
    }
  }

  loopList(source: JsonValue, pointer: string): LoopList {
    const problems: TreeProblem[] = []
    const list = compileLoopList(source, { problems, compile: this.compile })
    this.report(problems, pointer)
    for (const placed of list.tree.templates) this.use(pointer + placed.pointer, placed.template, 'engine')
    return list
  }

  /** A whole number from `min`, or a template that will give one. */
  count(reader: Reader, key: string, min = 1, by: TemplateUse['by'] = 'engine'): Count | undefined {
    const value = reader.value(key)
    if (value === undefined) return undefined
    const pointer = `${reader.path}/${key}`
    if (typeof value === 'string') {
      const template = this.text(value, pointer, by)
      if (template !== undefined) return template
      if (!/^\s*\d+\s*$/.test(value))
        return this.problems.error(pointer, `must be a whole number from ${min}, or a template`)
    }
    const number = typeof value === 'string' ? Number(value) : value
    if (typeof number === 'number' && Number.isInteger(number) && number >= min) return number
    return this.problems.error(pointer, `must be a whole number from ${min}, or a template`)
  }

  /** Undefined for a text without tags. */
  text(source: string, pointer: string, by: TemplateUse['by']): Template | undefined {
    try {
      const template = this.compile(source, {})
      if (template !== undefined) this.use(pointer, template, by)
      return template
    } catch (error) {
      return this.refuse(error, pointer)
    }
  }

  private readonly compile = (text: string, options: TemplateOptions): Template | undefined => {
    const compiled = options.isCode === true ? this.compiled.code : this.compiled.text
    const known = compiled.get(text)
    if (known instanceof TemplateError) throw known
    if (known !== undefined) return known
    try {
      const template = Template.compile(text, options)
      if (template !== undefined) compiled.set(text, template)
      return template
    } catch (error) {
      if (error instanceof TemplateError) compiled.set(text, error)
      throw error
    }
  }

  private use(pointer: string, template: Template, by: TemplateUse['by'], isBareGuard = false): void {
    this.uses.push({ pointer, template, by, isBareGuard })
    for (const warning of template.warnings) this.warnOfBraces(pointer, warning)
  }

  private warnOfBraces(pointer: string, { why, near }: Pick<TemplateError, 'why' | 'near'>): void {
    this.problems.warn(pointer, `braces that are no template stay as text: ${why} near ${JSON.stringify(near)}`)
  }

  private report(problems: readonly TreeProblem[], pointer: string): void {
    for (const problem of problems) this.refuse(problem.error, pointer + problem.pointer)
  }

  private refuse(error: unknown, pointer: string): undefined {
    if (!(error instanceof TemplateError)) throw error
    const { why, near } = error
    return this.problems.error(pointer, `template error at ${pointer}: ${why} near ${JSON.stringify(near)}`)
  }
}

function isName(source: JsonValue): boolean {
  return typeof source === 'string' && /^\s*[A-Za-z_]\w*\s*$/.test(source)
}

/** `{{ n }} > 2`: only what is inside the braces is an expression. */
function comparesOutside(source: JsonValue): boolean {
  if (typeof source !== 'string' || !source.includes('{{')) return false
  const outside = source.split('{{').map((part, index) => (index === 0 ? part : (part.split('}}')[1] ?? '')))
  return outside.some((text) => /[=!<>]=|[<>]|\s(?:and|or|in|is|not)\s/.test(text))
}
