// Templates in the defaults of the workload. They may read what is known when an execution starts: its ids, its playbook, and
// other keys of the workload. One that reads anything later, or a secret, stays the text it is, and so does one whose
// keys read each other in a circle. What a payload brings is never a template.

import { canonicalJson } from '../json/canonical.js'
import { escapeSegment } from '../json/pointer.js'
import { type JsonObject, type JsonValue, setKey } from '../json/value.js'
import type { TemplateContext, TemplateValue } from '../template/run.js'
import type { Template } from '../template/template.js'
import { needsSecrets } from './deferral.js'
import type { WorkloadDefault } from './plan.js'
import type { PlanSite } from './site.js'
import { KNOWN_ROOTS, START_ROOTS } from './templateRoots.js'

/** In an order in which each finds what it reads; asked for when every name of the playbook is known. */
export function planWorkload(workload: JsonObject, site: PlanSite): WorkloadDefault[] {
  const isLater = (root: string): boolean =>
    !START_ROOTS.has(root) && !Object.hasOwn(workload, root) && (KNOWN_ROOTS.has(root) || site.names.has(root))
  const isLeft = (template: Template): boolean =>
    needsSecrets(template) || template.paths.some(({ root }) => isLater(root))
  const found = new Map<string, WorkloadDefault>()
  for (const key of Object.keys(workload)) {
    const source = workload[key] as JsonValue
    const tree = site.looseTree(source, pointerOf(key), isLeft)
    if (tree.templates.length > 0) found.set(key, { key, source, tree })
  }
  return new Sorter(found, site).sorted
}

/** Defaults that read each other, one behind the other. */
const DEPTH_MAX = 100

class Sorter {
  private readonly all: WorkloadDefault[] = []
  private readonly seen = new Set<string>()
  private readonly left = new Set<string>()

  constructor(
    private readonly found: ReadonlyMap<string, WorkloadDefault>,
    private readonly site: PlanSite,
  ) {
    for (const key of found.keys()) this.visit(key, [])
  }

  get sorted(): WorkloadDefault[] {
    return this.all.filter(({ key }) => !this.left.has(key))
  }

  private visit(key: string, way: readonly string[]): void {
    const own = this.found.get(key)
    if (own === undefined || this.seen.has(key)) return
    const start = way.indexOf(key)
    const reads = readBy(own)
    if (start >= 0) this.refuse([...way.slice(start), key])
    else if (reads === undefined) this.refuse([key, key])
    else if (way.length === DEPTH_MAX) this.leave(key, `stands behind more than ${DEPTH_MAX} others`)
    else {
      for (const read of reads) this.visit(read, [...way, key])
      this.seen.add(key)
      this.all.push(own)
    }
  }

  private refuse(circle: readonly string[]): void {
    for (const key of circle) this.leave(key, `refers to itself (${circle.join(' → ')})`)
  }

  private leave(key: string, why: string): void {
    if (this.left.has(key)) return
    this.left.add(key)
    this.site.problems.warn(pointerOf(key), `${why} and stays as text`)
  }
}

/** Undefined: the workload as a whole, and so itself. */
function readBy({ tree }: WorkloadDefault): ReadonlySet<string> | undefined {
  const keys = new Set<string>()
  for (const { template } of tree.templates) {
    for (const { root, keys: below } of template.paths) {
      const key = root === 'workload' || root === 'ctx' ? below[0] : root
      if (key === undefined) return undefined
      keys.add(key)
    }
  }
  return keys
}

export interface WorkloadRoots {
  root(name: string): TemplateValue
  /** When the execution started. */
  readonly nowMs: number
  /** Gives an error of a template its place. */
  placed<T>(pointer: string, run: () => T): T
}

/** The workload with its defaults rendered; what a payload has replaced is left alone. */
export function renderWorkload(
  merged: JsonObject,
  defaults: readonly WorkloadDefault[],
  about: WorkloadRoots,
): JsonObject {
  if (defaults.length === 0) return merged
  const workload: JsonObject = { ...merged }
  const context: TemplateContext = {
    nowMs: about.nowMs,
    isStep: () => false,
    get: (name): TemplateValue => {
      if (name === 'workload' || name === 'ctx') return workload
      if (START_ROOTS.has(name)) return about.root(name)
      return Object.hasOwn(workload, name) ? workload[name] : undefined
    },
  }
  for (const { key, source, tree } of defaults) {
    if (!Object.hasOwn(workload, key) || !isSame(workload[key] as JsonValue, source)) continue
    setKey(workload, key, about.placed(pointerOf(key), () => tree.value(context)) ?? null)
  }
  return workload
}

/** A payload may bring the very text of the default; that tells nothing the author of the playbook has not written. */
function isSame(value: JsonValue, source: JsonValue): boolean {
  if (typeof value !== typeof source) return false
  return typeof value === 'string' ? value === source : canonicalJson(value) === canonicalJson(source)
}

function pointerOf(key: string): string {
  return `/workload/${escapeSegment(key)}`
}
