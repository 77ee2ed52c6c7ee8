// Random playbooks, as a model that a simple interpreter can walk and as the document that the engine gets.

import type { Random } from '../state/logGenerator.js'

export type Guard = 'always' | 'never' | 'big' | 'again' | 'failed' | 'ok'

export interface ModelArc {
  target: number
  guard: Guard
  /** `again`: how often its step may have been left. */
  bound: number
  sets: boolean
}

export interface ModelStep {
  name: string
  kind: 'work' | 'noop'
  loop: { mode: 'parallel' | 'sequential'; items: number; limit: number } | undefined
  mode: 'exclusive' | 'inclusive'
  arcs: ModelArc[]
  /** Only entered when its number of exits is even. */
  isGuarded: boolean
  onError: boolean
  sets: boolean
}

export interface Model {
  steps: ModelStep[]
  finalStep: number | undefined
  bestEffort: boolean
}

const GUARDS: readonly Guard[] = ['always', 'always', 'big', 'ok', 'failed', 'never']

export function randomModel(random: Random): Model {
  const count = 1 + random.below(12)
  const steps = Array.from({ length: count }, (_, index): ModelStep => {
    const isLoop = random.chance(0.2)
    const mode = random.pick(['parallel', 'sequential'] as const)
    return {
      name: `s${index}`,
      kind: random.chance(0.35) ? 'noop' : 'work',
      loop: isLoop
        ? { mode, items: random.below(4), limit: mode === 'sequential' ? 1 : 1 + random.below(3) }
        : undefined,
      mode: random.pick(['exclusive', 'inclusive'] as const),
      arcs: [],
      isGuarded: random.chance(0.1),
      onError: random.chance(0.1),
      sets: random.chance(0.7),
    }
  })
  for (const [index, step] of steps.entries()) {
    const arcs = random.below(4)
    for (let arc = 0; arc < arcs; arc++) {
      const isBack = random.chance(0.2)
      const target = isBack ? random.below(index + 1) : index + 1 + random.below(count - index)
      if (target >= count) continue
      // Whatever goes back must end some time.
      const guard = target <= index ? 'again' : random.pick(GUARDS)
      step.arcs.push({ target, guard, bound: 1 + random.below(3), sets: random.chance(0.3) })
      if (target <= index) {
        step.sets = true
        step.isGuarded = false
      }
    }
  }
  const finalStep = random.chance(0.15) ? random.below(count) : undefined
  return { steps, finalStep, bestEffort: random.chance(0.3) }
}

export function toDocument({ steps, finalStep, bestEffort }: Model): string {
  const spec: string[] = [`entry_step: s0`]
  if (finalStep !== undefined) spec.push(`final_step: s${finalStep}`)
  if (bestEffort) spec.push('policy: {failure: {mode: best_effort}}')
  const lines = steps.map((step) => {
    const parts = [`step: ${step.name}`]
    parts.push(step.kind === 'noop' ? 'tool: {kind: noop}' : 'tool: {kind: python, code: ""}')
    if (step.loop !== undefined) {
      const { mode, items, limit } = step.loop
      parts.push(`loop: {in: ${items}, spec: {mode: ${mode}${mode === 'parallel' ? `, max_in_flight: ${limit}` : ''}}}`)
    }
    if (step.isGuarded) parts.push(`when: "{{ ctx.k_${step.name} | default(0) % 2 == 0 }}"`)
    if (step.onError) parts.push('spec: {on_error: continue}')
    if (step.sets) {
      const count = `ctx.k_${step.name}: "{{ ctx.k_${step.name} | default(0) + 1 }}"`
      parts.push(`set: {${count}, ctx.trace: "{{ ctx.trace }}${step.name},", ctx.last: "{{ ${lastOf(step)} }}"}`)
    }
    if (step.arcs.length > 0)
      parts.push(`next: {spec: {mode: ${step.mode}}, arcs: [${step.arcs.map((arc) => arcText(step, arc)).join(', ')}]}`)
    return `- {${parts.join(', ')}}`
  })
  return `executor: {spec: {${spec.join(', ')}}}\nworkflow:\n${lines.join('\n')}\n`
}

function lastOf({ loop }: ModelStep): string {
  return loop === undefined ? 'output.n' : 'output.stats.success'
}

function arcText(step: ModelStep, arc: ModelArc): string {
  const parts = [`step: s${arc.target}`]
  const guard = guardText(step, arc)
  if (guard !== undefined) parts.push(`when: "{{ ${guard} }}"`)
  if (arc.sets) parts.push(`set: {ctx.trace: "{{ ctx.trace }}${step.name}>s${arc.target},"}`)
  return `{${parts.join(', ')}}`
}

function guardText(step: ModelStep, { guard, bound }: ModelArc): string | undefined {
  switch (guard) {
    case 'always':
      return undefined
    case 'never':
      return 'false'
    case 'big':
      return `${lastOf(step)} > 4`
    case 'again':
      return `ctx.k_${step.name} <= ${bound}`
    case 'failed':
      return "event.name == 'step.failed'"
    case 'ok':
      return "event.name != 'command.failed'"
  }
}
