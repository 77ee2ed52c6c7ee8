// What a playbook of the model does, written the simple way: one object that is changed in place, no log, no templates, no
// decisions, every question about the graph answered by walking it. The engine must do the same.

import type { Model, ModelArc, ModelStep } from './model.js'

interface Arrival {
  from: number
  arc: number
  to: number
}

interface LiveStep {
  step: number
  visit: number
  isFinal: boolean
  issued: number
  results: Map<number, { ok: boolean; n: number }>
}

export type Ended = 'COMPLETED' | 'FAILED' | undefined

export class Interpreter {
  readonly visits: string[] = []
  readonly failedSteps: string[] = []
  ended: Ended
  trace: string | undefined
  last: number | null | undefined
  readonly counts = new Map<number, number>()
  readonly open = new Set<string>()
  private readonly entered = new Map<number, number>()
  private readonly live = new Map<number, LiveStep>()
  private arrivals: Arrival[] = []
  private readonly finished: number[] = []
  private readonly backArcs: Set<ModelArc>

  constructor(readonly model: Model) {
    this.backArcs = backArcsOf(model)
  }

  start(): void {
    this.goOn(this.enter(0, false))
    this.settle()
  }

  /** An answer, by the name of the command: `s3#2` or `s3#2:1`. */
  answer(command: string, ok: boolean, n: number): void {
    if (!this.open.delete(command)) throw new Error(`${command} is not open`)
    const [name = '', item] = command.split(':')
    const step = Number(name.slice(1, name.indexOf('#')))
    const live = this.live.get(step) as LiveStep
    live.results.set(Number(item ?? 0), { ok, n })
    if (this.isOver(live)) this.finished.push(step)
  }

  /** What follows from the answers so far: ended visits in the order in which they ended, then more items of loops. */
  settle(): void {
    for (;;) {
      const step = this.finished.shift()
      if (step !== undefined) this.exit(this.live.get(step) as LiveStep)
      else if (!this.issueMore()) break
    }
    this.finish()
  }

  private step(index: number): ModelStep {
    return this.model.steps[index] as ModelStep
  }

  private get isStopped(): boolean {
    return this.failedSteps.length > 0 && !this.model.bestEffort
  }

  // --- entering -------------------------------------------------------------------------------------------------------

  private enter(index: number, isFinal: boolean): number[] {
    const step = this.step(index)
    const taken = new Set<string>()
    this.arrivals = this.arrivals.filter((arrival) => {
      const key = `${arrival.from}/${arrival.arc}`
      if (arrival.to !== index || taken.has(key)) return true
      taken.add(key)
      return false
    })
    const visit = (this.entered.get(index) ?? 0) + 1
    this.entered.set(index, visit)
    if (step.isGuarded && (this.counts.get(index) ?? 0) % 2 !== 0) {
      this.visits.push(`skip ${step.name}#${visit}`)
      return this.route(index, { isFailed: false, n: null })
    }
    this.visits.push(`enter ${step.name}#${visit}`)
    const live: LiveStep = { step: index, visit, isFinal, issued: 0, results: new Map() }
    this.live.set(index, live)
    if (step.loop?.items === 0) return this.exitOnly(live)
    if (step.loop === undefined) {
      if (step.kind === 'noop') return this.exitOnly(live)
      this.open.add(`${step.name}#${visit}`)
      live.issued = 1
    } else {
      this.issue(live)
    }
    return []
  }

  private issue(live: LiveStep): boolean {
    const step = this.step(live.step)
    const { items, limit } = step.loop as NonNullable<ModelStep['loop']>
    const failed = [...live.results.values()].some(({ ok }) => !ok)
    let isIssued = false
    while (live.issued < items && !failed && (live.isFinal || !this.isStopped)) {
      if (step.kind !== 'noop' && live.issued - live.results.size >= limit) break
      const item = live.issued++
      if (step.kind === 'noop') live.results.set(item, { ok: true, n: 0 })
      else this.open.add(`${step.name}#${live.visit}:${item}`)
      isIssued = true
    }
    if (isIssued && step.kind === 'noop') this.finished.push(live.step)
    return isIssued
  }

  private issueMore(): boolean {
    for (const index of [...this.live.keys()].sort((a, b) => a - b)) {
      const live = this.live.get(index) as LiveStep
      if (this.step(index).loop !== undefined && this.issue(live)) return true
    }
    return false
  }

  private isOver(live: LiveStep): boolean {
    const { loop } = this.step(live.step)
    if (live.results.size < live.issued) return false
    if (loop === undefined || live.issued >= loop.items) return true
    return [...live.results.values()].some(({ ok }) => !ok) || (!live.isFinal && this.isStopped)
  }

  // --- leaving --------------------------------------------------------------------------------------------------------

  private exit(live: LiveStep): void {
    this.goOn(this.exitOnly(live))
  }

  private exitOnly(live: LiveStep): number[] {
    const { step: index } = live
    const step = this.step(index)
    const results = [...live.results.values()]
    const isFailed = results.some(({ ok }) => !ok)
    this.live.delete(index)
    const n = step.loop === undefined ? (results[0]?.n ?? null) : results.filter(({ ok }) => ok).length
    const seen = step.kind === 'noop' && step.loop === undefined ? null : isFailed && step.loop === undefined ? null : n
    const routes = !live.isFinal && !this.isStopped
    if (step.sets && (!isFailed || (step.onError && routes))) {
      this.counts.set(index, (this.counts.get(index) ?? 0) + 1)
      this.trace = `${this.trace ?? ''}${step.name},`
      this.last = seen
    }
    if (!routes) {
      if (isFailed) this.fail(step.name)
      return []
    }
    const targets = this.route(index, { isFailed, n: seen })
    if (isFailed && !step.onError && targets.length === 0) this.fail(step.name)
    // A failure elsewhere may have ended loops that were waiting for room.
    return targets
  }

  private fail(name: string): void {
    if (!this.failedSteps.includes(name)) this.failedSteps.push(name)
    for (const [index, live] of this.live) {
      if (live.issued > 0 && this.isOver(live) && !this.finished.includes(index)) this.finished.push(index)
    }
  }

  /** Answers the targets, in the order of the arcs. */
  private route(index: number, outcome: { isFailed: boolean; n: number | null }): number[] {
    const step = this.step(index)
    const taken: ModelArc[] = []
    for (const arc of step.arcs) {
      if (outcome.isFailed && !step.onError && arc.guard !== 'failed' && arc.guard !== 'ok') continue
      if (!this.isTrue(index, arc, outcome)) continue
      taken.push(arc)
      if (step.mode === 'exclusive') break
    }
    const before = this.trace
    for (const arc of taken) {
      if (arc.sets) this.trace = `${before ?? ''}${step.name}>s${arc.target},`
      this.arrivals.push({ from: index, arc: step.arcs.indexOf(arc), to: arc.target })
    }
    return taken.map(({ target }) => target)
  }

  private isTrue(index: number, arc: ModelArc, { isFailed, n }: { isFailed: boolean; n: number | null }): boolean {
    switch (arc.guard) {
      case 'always':
        return true
      case 'never':
        return false
      case 'big':
        return n !== null && n > 4
      case 'again':
        return (this.counts.get(index) ?? Number.POSITIVE_INFINITY) <= arc.bound
      case 'failed':
        return isFailed
      case 'ok':
        return !isFailed
    }
  }

  // --- going on -------------------------------------------------------------------------------------------------------

  private goOn(targets: number[]): void {
    const preferred = [...targets]
    while (!this.isStopped) {
      const next = this.nextReady(preferred)
      if (next === undefined) return
      preferred.push(...this.enter(next, false))
    }
  }

  private nextReady(preferred: number[]): number | undefined {
    const arrived = [...new Set(this.arrivals.map(({ to }) => to))].sort((a, b) => a - b)
    const candidates = [...preferred.filter((step) => arrived.includes(step)), ...arrived]
    const ready = candidates.find((step) => this.isReady(step))
    return ready ?? (this.live.size === 0 ? arrived[0] : undefined)
  }

  private isReady(target: number): boolean {
    if (this.live.has(target)) return false
    const own = this.arrivals.filter(({ to }) => to === target).map(({ from, arc }) => `${from}/${arc}`)
    if (new Set(own).size < own.length) return true
    const others = [...this.live.keys(), ...this.arrivals.map(({ to }) => to)].filter((step) => step !== target)
    return !others.some((other) => holdsBack(this.model, this.backArcs, other, target))
  }

  private finish(): void {
    if (this.ended !== undefined || this.live.size > 0 || this.finished.length > 0) return
    if (this.arrivals.length > 0 && !this.isStopped) return
    const { finalStep } = this.model
    if (finalStep !== undefined && !this.entered.has(finalStep)) {
      this.enter(finalStep, true)
      this.arrivals = []
      if (this.finished.length > 0) this.settle()
      else this.finish()
      return
    }
    this.ended = this.failedSteps.length > 0 ? 'FAILED' : 'COMPLETED'
  }
}

// --- the graph, by walking -----------------------------------------------------------------------------------------------

/** Arcs that lead back to a step that is still being walked from, in document order. */
export function backArcsOf({ steps, finalStep }: Model): Set<ModelArc> {
  const back = new Set<ModelArc>()
  const state = new Map<number, 'open' | 'done'>()
  const walk = (index: number): void => {
    state.set(index, 'open')
    for (const arc of (steps[index] as ModelStep).arcs) {
      if (state.get(arc.target) === 'open') back.add(arc)
      else if (state.get(arc.target) === undefined) walk(arc.target)
    }
    state.set(index, 'done')
  }
  for (const root of [0, finalStep, ...steps.keys()]) if (root !== undefined && !state.has(root)) walk(root)
  return back
}

function reaches(
  { steps }: Model,
  from: number,
  to: number,
  allowed: (arc: ModelArc, source: number) => boolean,
): boolean {
  const seen = new Set<number>()
  const queue = [from]
  for (let index = queue.pop(); index !== undefined; index = queue.pop()) {
    for (const arc of (steps[index] as ModelStep).arcs) {
      if (!allowed(arc, index)) continue
      if (arc.target === to) return true
      if (!seen.has(arc.target)) {
        seen.add(arc.target)
        queue.push(arc.target)
      }
    }
  }
  return false
}

/** The header, and whatever reaches the source of a back arc into it without passing it. */
function isInLoop(model: Model, back: ReadonlySet<ModelArc>, header: number, step: number): boolean {
  if (step === header) return [...back].some(({ target }) => target === header)
  return model.steps.some(
    ({ arcs }, source) =>
      arcs.some((arc) => back.has(arc) && arc.target === header) &&
      (step === source || reaches(model, step, source, (arc) => arc.target !== header)),
  )
}

export function holdsBack(model: Model, back: ReadonlySet<ModelArc>, other: number, target: number): boolean {
  if (other === target) return false
  return reaches(model, other, target, (arc) => !(back.has(arc) && isInLoop(model, back, arc.target, target)))
}
