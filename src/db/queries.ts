// Loads the named SQL blocks of sql/queries once. A missing, empty or repeated name stops the program at its start.
// See sql/README.md for the form of a block.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TERMINAL_STATUSES } from '../domain/executions/executionStatus.js'
import { CpError } from '../errors.js'
import { PACKAGE_FOLDER } from '../runtime/packageFolder.js'

export interface Query {
  readonly name: string
  readonly text: string
  /** Planned for its values each time: a query with optional filters has no one good plan. */
  readonly planEachTime?: boolean
  /** Planned once, to follow indexes: it finds its rows by key, and planning it for its values would cost more than running it. */
  readonly planByKey?: boolean
}

export const SQL_FOLDER = fileURLToPath(new URL('sql', PACKAGE_FOLDER))

let loaded: ReadonlyMap<string, Query> | undefined

export function allQueries(): ReadonlyMap<string, Query> {
  loaded ??= loadQueries(join(SQL_FOLDER, 'queries'))
  return loaded
}

/** The blocks a store uses, by name: `const q = queries('event_append', 'event_head')`. */
export function queries<const Names extends readonly string[]>(...names: Names): Record<Names[number], Query> {
  const result: Record<string, Query> = {}
  for (const name of names) {
    const query = allQueries().get(name)
    if (query === undefined) throw new CpError('internal', `sql/queries has no block named ${name}`)
    result[name] = query
  }
  return result as Record<Names[number], Query>
}

/** SQL that is not a stored block: transaction control and the like. Constant text only. */
export function statement(text: string): Query {
  return { name: text.split(/\s+/, 2).join(' ').toLowerCase(), text }
}

function loadQueries(folder: string): Map<string, Query> {
  const found = new Map<string, Query>()
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sql'))
    .sort()) {
    for (const block of parseBlocks(readFileSync(join(folder, file), 'utf8'))) {
      if (found.has(block.name)) throw new CpError('internal', `${file}: query ${block.name} is defined twice`)
      found.set(block.name, block)
    }
  }
  return found
}

// `lease_take(kind, owner)` or `member_list`; long lists go over several comment lines.
const SIGNATURE = /^(\w+)(?:\(([\w\s,-]*)\))?[ ]*\n/

/** Text that several queries of a file have in common, with its parameters. */
interface Part {
  params: readonly string[]
  body: string
}

export function parseBlocks(source: string): Query[] {
  const parts = new Map<string, Part>()
  return source
    .split(/^-- (?=(?:name|part): )/m)
    .slice(1)
    .flatMap((given) => {
      const [kind, block] = [given.slice(0, 4), given.slice('name:'.length).trimStart()]
      const [head, name, list] = SIGNATURE.exec(block) ?? []
      if (head === undefined || name === undefined) {
        throw new CpError('internal', `a query has no readable name: ${block.slice(0, 60)}`)
      }
      const params = (list?.match(/\w+/g) ?? []).flatMap((word) => parts.get(word)?.params ?? [word])
      const body = block
        .slice(head.length)
        .replace(/^--.*\n/gm, '')
        .trim()
        .replace(/;$/, '')
      if (body === '') throw new CpError('internal', `query ${name} is empty`)
      if (kind === 'part') {
        parts.set(name, { params, body })
        return []
      }
      const whole = body.replace(/:([A-Z]\w*)/g, (found, part: string) => parts.get(part)?.body ?? found)
      return [{ name, text: numberParams(name, params, whole), ...planOf(name, block) }]
    })
}

function planOf(name: string, block: string): Pick<Query, 'planEachTime' | 'planByKey'> {
  const plan = /^-- plan: (.*)$/m.exec(block)?.[1]
  if (plan === undefined) return {}
  if (plan === 'each time') return { planEachTime: true }
  if (plan === 'by key') return { planByKey: true }
  throw new CpError('internal', `query ${name} has an unknown way to plan: ${plan}`)
}

/** Lists that SQL and TypeScript share, as text: they never change while the program runs. */
const CONSTANTS: Readonly<Record<string, string>> = {
  TERMINAL_STATUSES: TERMINAL_STATUSES.map((status) => `'${status}'`).join(', '),
}

/**
 * `:name` becomes `$n`, its place in the list beside the query's name, and `:NAME` the constant of that name. Quoted texts
 * and casts (`::`) are left alone.
 */
function numberParams(query: string, params: readonly string[], body: string): string {
  const unused = new Set(params)
  const text = body.replace(/'[^']*'|::|\$\d+|:([A-Za-z_]\w*)/g, (found, name: string | undefined) => {
    if (found.startsWith('$')) throw new CpError('internal', `query ${query} has ${found}: give it a name`)
    if (name === undefined) return found
    const constant = Object.hasOwn(CONSTANTS, name) ? CONSTANTS[name] : undefined
    if (constant !== undefined) return constant
    const place = params.indexOf(name)
    if (place < 0) throw new CpError('internal', `query ${query} has no parameter ${name}`)
    unused.delete(name)
    return `$${place + 1}`
  })
  if (unused.size > 0) throw new CpError('internal', `query ${query} does not use ${[...unused].join(', ')}`)
  return text
}
