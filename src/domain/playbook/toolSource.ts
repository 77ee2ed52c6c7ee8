// The forms in which a tool may be written, brought into one: a list of tasks with labels, each with the layers of its
// arguments. References to the workbook are replaced by what they name.

import type { Reader } from '../catalog/violation.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { KNOWN_KINDS, WORKBOOK_KEYS, warnUnknownKeys } from './knownKeys.js'
import { listed } from './problems.js'
import type { PlanSite } from './site.js'

/** From one task of the workbook to the next. */
const REFERENCES_MAX = 20

export interface TaskSource {
  readonly label: string
  readonly kind: string
  readonly tool: Reader
  /** Maps, or templates that give one; the weakest first. */
  readonly args: readonly Placed[]
}

export interface Placed {
  readonly value: JsonValue
  readonly pointer: string
}

export interface ToolSource {
  readonly tasks: readonly TaskSource[]
  /** Written as one tool: its data is not wrapped in a label. */
  readonly isSingle: boolean
  /** Arguments for a whole list of tasks, from a reference to the workbook. */
  readonly args: readonly Placed[]
}

/** By name: the tool and the arguments of the entry around it. */
export type Workbook = ReadonlyMap<string, { readonly pointer: string; readonly entry: Reader }>

export function readWorkbook(source: JsonValue | undefined, site: PlanSite): Workbook {
  const entries = new Map<string, { pointer: string; entry: Reader }>()
  if (source === undefined) return entries
  if (!Array.isArray(source)) {
    site.problems.error('/workbook', 'must be a list')
    return entries
  }
  for (const [index, value] of source.entries()) {
    const pointer = `/workbook/${index}`
    if (!isJsonObject(value)) {
      site.problems.error(pointer, 'must be a mapping')
      continue
    }
    const entry = site.reader(value, pointer)
    warnUnknownKeys(entry, WORKBOOK_KEYS, site)
    const name = entry.text('name')
    if (name === undefined) {
      if (!entry.has('name')) site.problems.error(pointer, 'has no name')
    } else if (entries.has(name)) {
      site.problems.error(`${pointer}/name`, `${JSON.stringify(name)} is taken by ${entries.get(name)?.pointer}`)
    } else {
      entries.set(name, { pointer, entry })
    }
  }
  return entries
}

export class ToolReader {
  /** Tasks of the workbook that somebody refers to. */
  readonly used = new Set<string>()

  constructor(
    readonly workbook: Workbook,
    private readonly site: PlanSite,
  ) {}

  /** Undefined when it cannot be read; the reason is among the problems. `ofStep`: the arguments of the step around it. */
  read(
    value: JsonValue,
    pointer: string,
    ofStep: readonly Placed[] = [],
    trail: readonly string[] = [],
  ): ToolSource | undefined {
    if (Array.isArray(value)) return this.list(value, pointer, trail)
    if (!isJsonObject(value))
      return this.site.problems.error(pointer, 'must be a mapping with a kind, or a list of tasks')
    const kind = this.kindOf(value, pointer, 'the tool')
    if (kind === undefined) return undefined
    if (kind === 'workbook') return this.reference(value, pointer, ofStep, trail)
    const tool = this.site.reader(value, pointer)
    if (kind === 'task_sequence' && tool.has('tasks')) return this.nested(tool, 'tasks', trail)
    if (kind === 'playbooks') return this.playbooks(tool)
    const task = { label: tool.text('name') ?? labelOf(0), kind, tool, args: argumentLayers(tool) }
    return { tasks: [task], isSingle: true, args: [] }
  }

  private list(items: readonly JsonValue[], pointer: string, trail: readonly string[]): ToolSource | undefined {
    if (items.length === 0)
      return this.site.problems.error(pointer, 'is an empty list; a pipeline needs at least one task')
    const seen = new Map<string, string>()
    const tasks = items.map((item, index) => {
      const task = this.task(item, index, `${pointer}/${index}`, trail)
      if (task === undefined) return undefined
      const first = seen.get(task.label)
      if (first !== undefined) {
        return this.site.problems.error(
          `${pointer}/${index}`,
          `the label ${JSON.stringify(task.label)} is taken by ${first}`,
        )
      }
      seen.set(task.label, `${pointer}/${index}`)
      return task
    })
    const whole = tasks.filter((task) => task !== undefined)
    return whole.length < tasks.length ? undefined : { tasks: whole, isSingle: false, args: [] }
  }

  private task(item: JsonValue, index: number, pointer: string, trail: readonly string[]): TaskSource | undefined {
    if (!isJsonObject(item)) return this.site.problems.error(pointer, 'must be a mapping with a kind')
    const keys = Object.keys(item)
    const only = keys.length === 1 ? item[keys[0] as string] : undefined
    const labelled = !Object.hasOwn(item, 'kind') && isJsonObject(only) ? only : undefined
    const body = labelled ?? item
    const place = labelled === undefined ? pointer : this.site.reader(item, pointer).mapping(keys[0] as string)!.path
    const kind = this.kindOf(body, place, `task ${index + 1}`)
    if (kind === undefined) return undefined
    const tool = this.site.reader(body, place)
    const label = labelled === undefined ? tool.text('name') : keys[0]
    if (label === undefined && tool.has('name')) return undefined
    if (label?.trim() === '') return this.site.problems.error(pointer, 'the label of the task is empty')
    const named = label ?? labelOf(index)
    if (kind !== 'workbook') return { label: named, kind, tool, args: argumentLayers(tool) }
    const found = this.reference(body, place, [], trail)
    const [task] = found?.tasks ?? []
    if (found === undefined || task === undefined) return undefined
    if (found.isSingle) return { ...task, label: named }
    return this.site.problems.error(place, 'names a list of tasks, which cannot be one task of another list')
  }

  /** A list of tasks written as a tool of its own. */
  private nested(tool: Reader, key: string, trail: readonly string[]): ToolSource | undefined {
    const source = this.read(tool.value(key) as JsonValue, `${tool.path}/${key}`, [], trail)
    return source === undefined ? undefined : { ...source, args: argumentLayers(tool) }
  }

  private playbooks(tool: Reader): ToolSource | undefined {
    const list = tool.value('playbooks')
    const pointer = `${tool.path}/playbooks`
    if (!Array.isArray(list)) return this.site.problems.error(pointer, 'must be a list of playbooks')
    const items = list.map((item) => (typeof item === 'string' ? { path: item } : item))
    const withKind = items.map((item) => (isJsonObject(item) ? { ...item, kind: 'playbook' } : item))
    const source = this.list(withKind, pointer, [])
    return source === undefined ? undefined : { ...source, args: argumentLayers(tool) }
  }

  private reference(
    value: JsonObject,
    pointer: string,
    ofStep: readonly Placed[],
    trail: readonly string[],
  ): ToolSource | undefined {
    const { problems } = this.site
    const reference = this.site.reader(value, pointer)
    const name = reference.text('name', 'required')
    if (name === undefined) return undefined
    const found = this.workbook.get(name)
    this.used.add(name)
    if (found === undefined) {
      const known = this.workbook.size === 0 ? 'it is empty' : `it has ${listed(this.workbook.keys())}`
      return problems.error(pointer, `the workbook has no task ${JSON.stringify(name)}; ${known}`)
    }
    if (trail.includes(name)) {
      return problems.error(found.pointer, `refers to itself: ${[...trail, name].join(' → ')}`)
    }
    if (trail.length >= REFERENCES_MAX) {
      return problems.error(found.pointer, `is the end of more than ${REFERENCES_MAX} references in a row`)
    }
    const tool = found.entry.value('tool')
    if (tool === undefined)
      return problems.error(`${found.pointer}/tool`, `workbook task ${JSON.stringify(name)} has no tool`)
    const source = this.read(tool, `${found.pointer}/tool`, [], [...trail, name])
    if (source === undefined) return undefined
    const weaker = argumentLayers(found.entry)
    // What the workbook says are defaults: a step that uses the task has the last word.
    const stronger = [...ofStep, ...argumentLayers(reference)]
    if (!source.isSingle) return { ...source, args: [...weaker, ...source.args, ...stronger] }
    return { ...source, tasks: source.tasks.map((task) => ({ ...task, args: [...weaker, ...task.args, ...stronger] })) }
  }

  private kindOf(tool: JsonObject, pointer: string, what: string): string | undefined {
    const { problems } = this.site
    const kind = tool['kind']
    if (kind === undefined || kind === null) return problems.error(pointer, `${what} has no kind`)
    if (typeof kind !== 'string') return problems.error(`${pointer}/kind`, 'must be a text, such as kind: noop')
    if (kind.trim() === '') return problems.error(pointer, `${what} has no kind`)
    if (!KNOWN_KINDS.has(kind)) problems.warn(`${pointer}/kind`, `${JSON.stringify(kind)} is not a known kind of tool`)
    return kind
  }
}

function labelOf(index: number): string {
  return `task_${index + 1}`
}

/**
 * `input` and `args` mean the same; where both are written `input` is the stronger. A list under `args` is the command line
 * of a container: it belongs to the tool.
 */
export function argumentLayers(reader: Reader): Placed[] {
  return ['args', 'input'].flatMap((key) => {
    const value = reader.value(key)
    if (value === undefined || isCommandLine(key, value)) return []
    return [{ value, pointer: `${reader.path}/${key}` }]
  })
}

/** The fields of a tool without its arguments. */
export function ownFields(tool: JsonObject): JsonObject {
  const { input: _input, args, ...own } = tool
  return args !== undefined && isCommandLine('args', args) ? { ...own, args } : own
}

function isCommandLine(key: string, value: JsonValue): boolean {
  return key === 'args' && Array.isArray(value)
}
