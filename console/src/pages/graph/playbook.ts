// The graph of a playbook as its document draws it: steps, and where each leads. It is read leniently: a document that
// could not run is drawn as far as it goes.

export interface GraphStep {
  name: string
  /** Kind of its tool; empty if it has none. */
  tool: string
  isLoop: boolean
  /** A playbook that it starts, if the document names it plainly. */
  calls: string | undefined
  /** It leads to the first step whose condition is met, not to every one. */
  isExclusive: boolean
}

export interface GraphArc {
  from: string
  to: string
  when: string | undefined
}

export interface PlaybookGraph {
  steps: readonly GraphStep[]
  arcs: readonly GraphArc[]
}

type Mapping = Readonly<Record<string, unknown>>

/** `workflow` of the document, as the catalog has it under `layout`. */
export function graphOf(workflow: unknown): PlaybookGraph {
  const written = Array.isArray(workflow)
    ? workflow.filter((step) => isMapping(step) && typeof step['step'] === 'string')
    : []
  const steps = new Map<string, GraphStep>()
  for (const step of written as Mapping[]) steps.set(step['step'] as string, stepOf(step))
  const arcs = (written as Mapping[]).flatMap((step) => arcsOf(step['step'] as string, step['next']))
  // `end` may be named without being a step.
  for (const { to } of arcs)
    if (!steps.has(to)) steps.set(to, { name: to, tool: '', isLoop: false, calls: undefined, isExclusive: true })
  return { steps: [...steps.values()], arcs }
}

function stepOf(step: Mapping): GraphStep {
  const tool = step['tool']
  const kind = isMapping(tool) ? textOf(tool['kind']) : Array.isArray(tool) ? `${tool.length} tasks` : textOf(tool)
  const path = isMapping(tool) && kind === 'playbook' ? textOf(tool['path']) : ''
  return {
    name: step['step'] as string,
    tool: kind,
    isLoop: isMapping(step['loop']),
    calls: path === '' || path.includes('{') || path.startsWith('.') ? undefined : path,
    isExclusive: isExclusive(step),
  }
}

/** As the engine reads it: a plain list of names means every one of them. */
function isExclusive({ next, spec }: Mapping): boolean {
  const ofRouter = isMapping(next) && isMapping(next['spec']) ? textOf(next['spec']['mode']) : ''
  const mode = ofRouter || (isMapping(spec) ? textOf(spec['next_mode']) : '')
  if (mode !== '') return mode === 'exclusive'
  return !(Array.isArray(next) && next.every((item) => typeof item === 'string'))
}

function arcsOf(from: string, next: unknown): GraphArc[] {
  const items = isMapping(next) ? (next['arcs'] ?? next) : next
  return (Array.isArray(items) ? items : [items]).flatMap((item: unknown): GraphArc[] => {
    if (typeof item === 'string') return [{ from, to: item, when: undefined }]
    if (!isMapping(item) || typeof item['step'] !== 'string') return []
    return [{ from, to: item['step'], when: textOf(item['when']) || undefined }]
  })
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'boolean' ? String(value) : ''
}
