// A command as an act of a person, for the record: what was called, with which options, and why.
import type { JsonObject } from '../domain/json/value.js'
import type { Act } from '../services/access/acts.js'
import type { CommandSpec, Input } from './command.js'
import { isSet } from './options.js'
import { userName } from './userName.js'

/** Undefined: it changes nothing, called like this. */
export function actOfCommand({ changes, path, args, options = [] }: CommandSpec, input: Input): Act | undefined {
  const isChange = typeof changes === 'function' ? changes(input) : changes === true
  if (!isChange || isSet(input, 'dry-run')) return undefined
  // The options of the command itself: common ones say where and how it works, and hold tokens.
  const own = options.map(({ flags, isWhy }) => ({ name: nameOf(flags), isWhy }))
  const why = own.find(({ isWhy }) => isWhy === true)
  const reason = why === undefined ? undefined : input.options[why.name]
  const [first] = args ?? []
  const target = first === undefined ? undefined : first.variadic === true ? onlyOf(input.rest) : input.args[first.name]
  return {
    actor: userName(),
    role: 'operator',
    via: 'cli',
    action: path.join('.'),
    targetKind: target === undefined ? null : path[0]!,
    targetId: target ?? null,
    reason: typeof reason === 'string' ? reason : null,
    request: requestOf(
      input,
      own.filter(({ isWhy }) => isWhy !== true).map(({ name }) => name),
    ),
  }
}

function requestOf({ args, rest, options }: Input, names: readonly string[]): JsonObject {
  const given = names.flatMap((name) => {
    const value = options[name]
    return value === undefined || value === false ? [] : [[name, typeof value === 'object' ? [...value] : value]]
  })
  return {
    ...args,
    ...(rest.length === 0 ? {} : { rest: [...rest] }),
    ...Object.fromEntries(given),
  }
}

function onlyOf(words: readonly string[]): string | undefined {
  return words.length === 1 ? words[0] : undefined
}

/** `-f, --older-than <span>` → olderThan */
function nameOf(flags: string): string {
  const [, long = ''] = /--(?:no-)?([\w-]+)/.exec(flags) ?? []
  return long.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
