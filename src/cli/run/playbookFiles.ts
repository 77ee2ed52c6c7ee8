// A playbook on disk with the playbooks it starts by the path of a file, and theirs, read and checked before anything is sent.
import { existsSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname, relative, resolve, sep } from 'node:path'
import { parseCatalogDocument } from '../../domain/catalog/catalogDocument.js'
import { withMetadataPath } from '../../domain/catalog/documentPath.js'
import { metadataProblems } from '../../domain/catalog/metadataProblems.js'
import { isJsonObject, type JsonObject } from '../../domain/json/value.js'
import { childCalls } from '../../domain/playbook/childCalls.js'
import type { Plan, Problem } from '../../domain/playbook/plan.js'
import { planOf } from '../../domain/playbook/planOf.js'
import { CpError } from '../../errors.js'
import { readOptionFile } from '../source.js'

export interface PlaybookText {
  /** As it is registered. */
  text: string
  /** In the catalog. */
  path: string
  plan: Plan | undefined
  problems: readonly Problem[]
  /** Paths of files as written, and the file behind each. */
  children: ReadonlyMap<string, string>
}

export interface PlaybookFile extends PlaybookText {
  /** As it was named. */
  file: string
  location: string
}

const FILES_MAX = 200

/** The playbook first, then its children. `from`: the folder that one works in. */
export async function readPlaybooks(file: string, from = process.cwd()): Promise<PlaybookFile[]> {
  const known = new Map<string, PlaybookFile>()
  const waiting = [resolve(from, file)]
  let root: PlaybookFile | undefined
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (known.has(next)) continue
    if (known.size >= FILES_MAX) throw new CpError('too_large', `${file} leads to more than ${FILES_MAX} playbooks`)
    const read = await readPlaybook(next, root === undefined ? file : next, {
      folder: dirname(next),
      from,
      path: root === undefined ? undefined : pathBelow(root, next),
    })
    root ??= read
    known.set(next, read)
    waiting.push(...read.children.values())
  }
  const playbooks = [...known.values()]
  assertApart(playbooks)
  return playbooks
}

async function readPlaybook(location: string, named: string, where: Whereabouts): Promise<PlaybookFile> {
  await access(location).catch(() => {
    throw new CpError('not_found', `there is no file ${named}`)
  })
  const text = await readOptionFile(location)
  try {
    return { file: named, location, ...readText(text, where) }
  } catch (error) {
    if (!(error instanceof CpError)) throw error
    throw new CpError(error.code, `${named}: ${error.message}`, { cause: error, details: error.details })
  }
}

/** `<path>/<file>`, from the folder of the first playbook; a folder above it is called `up`, for .. has a meaning in addresses. */
function pathBelow(root: PlaybookFile, location: string): string {
  const parts = relative(dirname(root.location), location).split(sep)
  return [root.path, ...parts.map((part) => (part === '..' ? 'up' : part))].join('/')
}

/** Of two with one path only the later would be left. */
function assertApart(playbooks: readonly PlaybookFile[]): void {
  const byPath = new Map<string, PlaybookFile>()
  for (const playbook of playbooks) {
    const { path, file, text, children } = playbook
    const other = byPath.get(path)
    byPath.set(path, playbook)
    const isCopy = other !== undefined && other.text === text && children.size === 0
    if (path === '' || other === undefined || isCopy) continue
    throw new CpError(
      'invalid_input',
      `${other.file} and ${file} both have the path ${path} in the catalog, and one would replace the other; give each a metadata.path of its own`,
    )
  }
}

/** Where paths of files in a document begin: those with a dot in its folder, others in the one that one works in. */
export interface Whereabouts {
  folder: string
  from: string
  /** In the catalog, for a document that names none. */
  path: string | undefined
}

/** Undefined: the document comes from the catalog. */
export function readText(given: string, where: Whereabouts | undefined): PlaybookText {
  const { plan, problems: found } = planOf(given)
  const problems = [...found]
  const children = new Map<string, string>()
  let text = given
  let path = ''
  try {
    const parsed = parseCatalogDocument(text)
    path = parsed.path
    if (parsed.kind !== 'playbook')
      throw new CpError('invalid_input', `${parsed.path} is a ${parsed.kind}, not a playbook`)
    if (where !== undefined) {
      // It will be registered.
      problems.push(...metadataProblems(parsed.document))
      for (const { path: written, pointer } of childCalls(parsed.document)) {
        if (written === undefined) continue
        if (isRelativeTemplate(written)) problems.push(unknownFile(pointer))
        const location = written.includes('{{') ? undefined : fileOf(written, where)
        if (location !== undefined) children.set(written, location)
      }
      if (where.path !== undefined && !namesPath(parsed.document)) {
        text = withMetadataPath(given, where.path)
        path = where.path
      }
    }
  } catch (error) {
    // A text that is no document has its problems already.
    if (problems.every(({ severity }) => severity !== 'error')) throw error
  }
  return { text, path, plan, problems, children }
}

function namesPath({ metadata }: JsonObject): boolean {
  return isJsonObject(metadata) && typeof metadata['path'] === 'string'
}

/** Undefined: a path in the catalog. */
function fileOf(child: string, { folder, from }: Whereabouts): string | undefined {
  if (isRelative(child)) return resolve(folder, child)
  const location = resolve(from, child)
  return /\.ya?ml$/.test(child) && existsSync(location) ? location : undefined
}

function isRelative(path: string): boolean {
  return /^\.{1,2}\//.test(path)
}

function isRelativeTemplate(path: string): boolean {
  return isRelative(path) && path.includes('{{')
}

function unknownFile(pointer: string): Problem {
  return {
    pointer,
    severity: 'error',
    message:
      'is a relative path with a template: the files of playbooks are read before the start, and which one is meant is known only later; name a path in the catalog, or each file in a step of its own',
  }
}

/**
 * For the start: where paths of files lead, `{written: path in the catalog}`. A text that leads to different files in different
 * playbooks stands under each of them instead: `{by_parent: {path of the playbook: {written: path}}}`.
 */
export function childrenMap(playbooks: readonly PlaybookFile[]): JsonObject | undefined {
  const byLocation = new Map(playbooks.map((playbook) => [playbook.location, playbook.path]))
  const named = playbooks.flatMap(({ path: parent, children }) =>
    [...children].map(([written, location]) => ({ parent, written, path: byLocation.get(location)! })),
  )
  const leads = new Map<string, Set<string>>()
  for (const { written, path } of named) leads.set(written, (leads.get(written) ?? new Set()).add(path))
  const everywhere = new Map<string, string>()
  const byParent = new Map<string, Map<string, string>>()
  for (const { parent, written, path } of named) {
    if (leads.get(written)!.size === 1) everywhere.set(written, path)
    else byParent.set(parent, (byParent.get(parent) ?? new Map<string, string>()).set(written, path))
  }
  if (named.length === 0) return undefined
  const apart = [...byParent].map(([parent, map]) => [parent, Object.fromEntries(map)] as const)
  return {
    ...Object.fromEntries(everywhere),
    ...(apart.length === 0 ? {} : { by_parent: Object.fromEntries(apart) }),
  }
}

export interface Need {
  kind: string
  steps: string[]
}

const NATIVE: ReadonlySet<string> = new Set(['noop', 'playbook', 'workbook', 'task_sequence'])

/** What the steps need a worker for. */
export function neededKinds(playbooks: readonly Pick<PlaybookText, 'plan'>[]): Need[] {
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
