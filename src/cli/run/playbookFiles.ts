// A playbook on disk with the playbooks it starts by a relative path, and theirs, read and checked before anything is sent.
import { access } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parseCatalogDocument } from '../../domain/catalog/catalogDocument.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import type { Plan, Problem } from '../../domain/playbook/plan.js'
import { planOf } from '../../domain/playbook/planOf.js'
import { CpError } from '../../errors.js'
import { readOptionFile } from '../source.js'

export interface PlaybookFile {
  /** As it was named. */
  file: string
  text: string
  /** In the catalog. */
  path: string
  plan: Plan | undefined
  problems: readonly Problem[]
  /** Relative paths as written, and the file behind each. */
  children: ReadonlyMap<string, string>
}

const FILES_MAX = 200

/** The playbook first, then its children. */
export async function readPlaybooks(file: string): Promise<PlaybookFile[]> {
  const known = new Map<string, PlaybookFile>()
  const waiting = [resolve(file)]
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (known.has(next)) continue
    if (known.size >= FILES_MAX) throw new CpError('too_large', `${file} leads to more than ${FILES_MAX} playbooks`)
    const read = await readPlaybook(next, known.size === 0 ? file : next)
    known.set(next, read)
    waiting.push(...read.children.values())
  }
  return [...known.values()]
}

async function readPlaybook(location: string, named: string): Promise<PlaybookFile> {
  await access(location).catch(() => {
    throw new CpError('not_found', `there is no file ${named}`)
  })
  const text = await readOptionFile(location)
  return { file: named, ...readText(text, dirname(location)) }
}

/** `folder`: where relative paths of the document begin; undefined when it comes from the catalog. */
export function readText(text: string, folder: string | undefined): Omit<PlaybookFile, 'file'> {
  const { plan, problems } = planOf(text)
  const children = new Map<string, string>()
  let path = ''
  try {
    const parsed = parseCatalogDocument(text)
    path = parsed.path
    if (parsed.kind !== 'playbook')
      throw new CpError('invalid_input', `${parsed.path} is a ${parsed.kind}, not a playbook`)
    if (folder !== undefined)
      for (const child of relativePaths(parsed.document)) children.set(child, resolve(folder, child))
  } catch (error) {
    // A text that is no document has its problems already.
    if (problems.every(({ severity }) => severity !== 'error')) throw error
  }
  return { text, path, plan, problems, children }
}

function relativePaths(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap(relativePaths)
  if (!isJsonObject(value)) return []
  const own = value['kind'] === 'playbook' ? value['path'] : undefined
  const nested = Object.values(value).flatMap(relativePaths)
  return typeof own === 'string' && /^\.{1,2}\//.test(own) && !own.includes('{{') ? [own, ...nested] : nested
}

/** For the start: where relative paths lead. One that means different files in different folders cannot be told apart. */
export function childrenMap(playbooks: readonly PlaybookFile[]): JsonObject | undefined {
  const byFile = new Map(playbooks.map((playbook) => [resolve(playbook.file), playbook]))
  const map = new Map<string, string>()
  for (const { file, children } of playbooks) {
    for (const [written, location] of children) {
      const { path } = byFile.get(location)!
      if ((map.get(written) ?? path) !== path) {
        throw new CpError(
          'invalid_input',
          `${file}: ${written} leads to ${path} here and to ${map.get(written)} in another playbook; name one by its path in the catalog`,
        )
      }
      map.set(written, path)
    }
  }
  return map.size === 0 ? undefined : Object.fromEntries(map)
}

export interface Need {
  kind: string
  steps: string[]
}

const NATIVE: ReadonlySet<string> = new Set(['noop', 'playbook', 'workbook', 'task_sequence'])

/** What the steps need a worker for. */
export function neededKinds(playbooks: readonly Pick<PlaybookFile, 'plan'>[]): Need[] {
  const needs = new Map<string, Set<string>>()
  for (const { plan } of playbooks) {
    for (const step of plan?.steps ?? []) {
      const claim = step.loop?.mode === 'cursor' ? step.loop.claim.kinds : []
      for (const kind of [...step.tool.kinds, ...claim]) {
        if (!NATIVE.has(kind)) needs.set(kind, (needs.get(kind) ?? new Set()).add(step.name))
      }
    }
  }
  return [...needs].map(([kind, steps]) => ({ kind, steps: [...steps] }))
}
