// A playbook on disk with the playbooks it starts by the path of a file, and theirs, read and checked before anything is sent.
import { existsSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parseCatalogDocument } from '../../domain/catalog/catalogDocument.js'
import { metadataProblems } from '../../domain/catalog/metadataProblems.js'
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
  /** Paths of files as written, and the file behind each. */
  children: ReadonlyMap<string, string>
}

const FILES_MAX = 200

/** The playbook first, then its children. `from`: the folder that one works in. */
export async function readPlaybooks(file: string, from = process.cwd()): Promise<PlaybookFile[]> {
  const known = new Map<string, PlaybookFile>()
  const waiting = [resolve(from, file)]
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (known.has(next)) continue
    if (known.size >= FILES_MAX) throw new CpError('too_large', `${file} leads to more than ${FILES_MAX} playbooks`)
    const read = await readPlaybook(next, known.size === 0 ? file : next, from)
    known.set(next, read)
    waiting.push(...read.children.values())
  }
  return [...known.values()]
}

async function readPlaybook(location: string, named: string, from: string): Promise<PlaybookFile> {
  await access(location).catch(() => {
    throw new CpError('not_found', `there is no file ${named}`)
  })
  const text = await readOptionFile(location)
  return { file: named, ...readText(text, { folder: dirname(location), from }) }
}

/** Where paths of files in a document begin: those with a dot in its folder, others in the one that one works in. */
export interface Whereabouts {
  folder: string
  from: string
}

/** Undefined: the document comes from the catalog. */
export function readText(text: string, where: Whereabouts | undefined): Omit<PlaybookFile, 'file'> {
  const { plan, problems: found } = planOf(text)
  const problems = [...found]
  const children = new Map<string, string>()
  let path = ''
  try {
    const parsed = parseCatalogDocument(text)
    path = parsed.path
    if (parsed.kind !== 'playbook')
      throw new CpError('invalid_input', `${parsed.path} is a ${parsed.kind}, not a playbook`)
    if (where !== undefined) {
      // It will be registered.
      problems.push(...metadataProblems(parsed.document))
      for (const child of childPaths(parsed.document)) {
        const location = fileOf(child, where)
        if (location !== undefined) children.set(child, location)
      }
    }
  } catch (error) {
    // A text that is no document has its problems already.
    if (problems.every(({ severity }) => severity !== 'error')) throw error
  }
  return { text, path, plan, problems, children }
}

/** Undefined: a path in the catalog. */
function fileOf(child: string, { folder, from }: Whereabouts): string | undefined {
  if (/^\.{1,2}\//.test(child)) return resolve(folder, child)
  const location = resolve(from, child)
  return /\.ya?ml$/.test(child) && existsSync(location) ? location : undefined
}

function childPaths(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap(childPaths)
  if (!isJsonObject(value)) return []
  const own = value['kind'] === 'playbook' ? value['path'] : undefined
  const nested = Object.values(value).flatMap(childPaths)
  return typeof own === 'string' && !own.includes('{{') ? [own, ...nested] : nested
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
