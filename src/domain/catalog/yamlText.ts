// YAML text → a JSON value, in time and memory that grow with the length of the text and no faster. The parser of the
// library is linear; its search for equal keys, its aliases and its big integers are not, so those three are done
// here. A few lines can unfold into gigabytes through aliases or overflow the stack through nesting: aliases share
// one value and are charged for what they would write, and nesting is counted before anything recurses.

import {
  type Alias,
  Composer,
  type CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  Parser,
  type ScalarTag,
  type Tags,
  type YAMLMap,
} from 'yaml'
import { CpError } from '../../errors.js'
import { isStorable } from '../events/storableText.js'
import { floatText } from '../json/number.js'
import { escapeSegment } from '../json/pointer.js'
import { INTEGER_DIGITS_MAX } from '../json/reader.js'
import {
  Float,
  floatValue,
  integerValue,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  setKey,
} from '../json/value.js'
import type { Violation } from './violation.js'

export interface YamlLimits {
  bytesMax: number
  depthMax: number
  /** Keys and values, once aliases are resolved. */
  valuesMax: number
  /** Of keys and texts together, once aliases are resolved. */
  charactersMax: number
}

export const YAML_LIMITS: YamlLimits = {
  bytesMax: 1_048_576,
  depthMax: 64,
  valuesMax: 200_000,
  charactersMax: 4_194_304,
}

const ERRORS_SHOWN = 20

/** Adds to `violations` and returns undefined when the text is not an acceptable document. */
export function readYaml(text: string, limits: YamlLimits, violations: Violation[]): JsonValue | undefined {
  assertSize(Buffer.byteLength(text, 'utf8'), limits)
  const whole = (message: string): undefined => void violations.push({ path: '', message })
  const lines = new LineCounter()
  const placeOf = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `line ${line}, column ${col}`
  }
  let documents: ReturnType<typeof readSyntax>
  try {
    documents = readSyntax(text, lines, limits.depthMax)
    if (documents === undefined) return whole(`is nested more than ${limits.depthMax} levels deep`)
  } catch (error) {
    // The library moves lists with push(...list), which overflows the stack beyond some 100,000 comments or blank lines.
    if (error instanceof RangeError) return whole('has too many comments or empty lines in one place')
    throw error
  }
  const [document, another] = documents
  if (document === undefined) return whole('is empty')
  if (another !== undefined) return whole('holds more than one YAML document; register them one by one')
  for (const error of document.errors.slice(0, ERRORS_SHOWN)) {
    whole(`is not readable as YAML: ${firstLine(error.message)} (${placeOf(error.pos[0])})`)
  }
  if (document.errors.length > 0) return undefined
  if (document.contents === null) return whole('is empty')

  const before = violations.length
  const value = new Conversion(bindAliases(document.contents), limits, placeOf, violations).run(document.contents)
  return violations.length > before ? undefined : value
}

export function assertSize(bytes: number, limits: YamlLimits): void {
  if (bytes <= limits.bytesMax) return
  throw new CpError('too_large', `the document has ${bytes} bytes; at most ${limits.bytesMax} are accepted`, {
    details: { bytes, limit: limits.bytesMax },
  })
}

/** Undefined when it is nested too deeply to be looked at further. */
export function readSyntax(text: string, lines: LineCounter, depthMax: number) {
  const tokens = syntaxOf(text, lines, depthMax)
  return tokens === undefined ? undefined : compose(tokens)
}

function syntaxOf(text: string, lines: LineCounter, depthMax: number): CST.Token[] | undefined {
  const tokens: CST.Token[] = []
  for (const token of new Parser(lines.addNewLine).parse(text)) {
    if (depthOf(token, depthMax) > depthMax) return undefined
    tokens.push(token)
  }
  return tokens
}

// BigInt(text) takes more than linear time; JSON has the same bound.
function boundedIntegers(tags: Tags): Tags {
  return tags.map((tag) => {
    if (typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:int' || tag.collection !== undefined) return tag
    const resolve: ScalarTag['resolve'] = (text, onError) => {
      if (text.length <= INTEGER_DIGITS_MAX) return BigInt(text)
      onError(`an integer of more than ${INTEGER_DIGITS_MAX} digits`)
      return 0n
    }
    return { ...tag, resolve }
  })
}

function compose(tokens: readonly CST.Token[]) {
  const composer = new Composer({
    // One language whatever a document declares: tags of YAML 1.1 would make dates, sets and bytes, which JSON lacks.
    schema: 'core',
    resolveKnownTags: false,
    customTags: boundedIntegers,
    intAsBigInt: true,
    uniqueKeys: false,
    logLevel: 'silent',
  })
  const documents = []
  for (const document of composer.compose(tokens)) {
    documents.push(document)
    if (documents.length > 1) break
  }
  return documents
}

/** What each alias stands for: the last node before it that carries its name. */
function bindAliases(root: Node): ReadonlyMap<Alias, Node> {
  const bound = new Map<Alias, Node>()
  const named = new Map<string, Node>()
  const visit = (node: unknown): void => {
    if (isAlias(node)) {
      const target = named.get(node.source)
      if (target !== undefined) bound.set(node, target)
      return
    }
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) return
    if (node.anchor !== undefined) named.set(node.anchor, node)
    if (isSeq(node)) for (const item of node.items) visit(item)
    if (isMap(node)) {
      for (const pair of node.items) {
        visit(pair.key)
        visit(pair.value)
      }
    }
  }
  visit(root)
  return bound
}

interface Converted {
  value: JsonValue
  /** Levels of collections, this one included. */
  levels: number
}

interface Cost {
  values: number
  characters: number
}

const NOTHING: Converted = { value: null, levels: 0 }

class Conversion {
  private readonly spent: Cost = { values: 0, characters: 0 }
  private isFull = false
  /** Of nodes that aliases stand for, with what each alias costs; 'open' while they are being converted. */
  private readonly shared = new Map<Node, (Converted & Cost) | 'open' | 'ahead'>()

  constructor(
    private readonly aliases: ReadonlyMap<Alias, Node>,
    private readonly limits: YamlLimits,
    private readonly placeOf: (offset: number) => string,
    private readonly violations: Violation[],
  ) {
    for (const target of aliases.values()) this.shared.set(target, 'ahead')
  }

  run(root: Node): JsonValue {
    return this.convert(root, '', 0).value
  }

  private convert(node: unknown, path: string, depth: number): Converted {
    if (isAlias(node)) return this.convertAlias(node, path, depth)
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) return NOTHING
    if (!this.shared.has(node)) return this.convertNode(node, path, depth)
    this.shared.set(node, 'open')
    const { values, characters } = this.spent
    const converted = this.convertNode(node, path, depth)
    const cost = { values: this.spent.values - values, characters: this.spent.characters - characters }
    this.shared.set(node, { ...converted, ...cost })
    return converted
  }

  private convertAlias(alias: Alias, path: string, depth: number): Converted {
    const target = this.aliases.get(alias)
    const known = target === undefined ? undefined : this.shared.get(target)
    if (known === 'open') return this.wrong(path, `uses *${alias.source} inside itself`)
    if (known === undefined || known === 'ahead') {
      return this.wrong(path, `uses *${alias.source} without an anchor before it`)
    }
    if (depth + known.levels > this.limits.depthMax) return this.wrong(path, 'is nested too deeply')
    this.spend(known.values, known.characters)
    return known
  }

  private convertNode(node: Node, path: string, depth: number): Converted {
    this.spend(1, 0)
    if (this.isFull) return NOTHING
    if (isScalar(node)) return this.convertScalar(node.value, path)
    let levels = 0
    const child = (item: unknown, key: string | number): JsonValue => {
      const converted = this.convert(item, `${path}/${key}`, depth + 1)
      if (converted.levels > levels) levels = converted.levels
      return converted.value
    }
    const value = isSeq(node) ? node.items.map(child) : this.convertMap(node as YAMLMap, path, child)
    return { value, levels: levels + 1 }
  }

  private convertMap(node: YAMLMap, path: string, child: (item: unknown, key: string) => JsonValue): JsonObject {
    const object: JsonObject = {}
    const own = new Set<string>()
    for (const pair of node.items) {
      if (this.isFull) break
      const key = this.keyOf(pair.key, path)
      if (key === undefined) continue
      if (own.has(key)) {
        const place = this.placeOf((pair.key as Node).range?.[0] ?? 0)
        const hint = isMergeKey(pair.key) ? '; merge several by a list: [*a, *b]' : ''
        this.wrong(`${path}/${escapeSegment(key)}`, `is there twice (${place})${hint}`)
      }
      own.add(key)
      const known = this.violations.length
      const value = child(pair.value, escapeSegment(key))
      if (!isMergeKey(pair.key)) setKey(object, key, value)
      else if (this.violations.length === known) this.merge(object, value, own, `${path}/${escapeSegment(key)}`)
    }
    return object
  }

  /** The map itself is stronger wherever it stands, and of several that are merged the first. */
  private merge(into: JsonObject, value: JsonValue, own: ReadonlySet<string>, path: string): void {
    const merged: JsonObject = {}
    for (const source of Array.isArray(value) ? value : [value]) {
      if (!isJsonObject(source)) {
        this.wrong(path, 'merges what is not a map; give a map or a list of maps, or quote the key: "<<"')
        return
      }
      for (const [key, one] of Object.entries(source)) {
        if (!own.has(key) && !Object.hasOwn(merged, key)) setKey(merged, key, one)
      }
    }
    for (const [key, one] of Object.entries(merged)) setKey(into, key, one)
  }

  private keyOf(node: unknown, path: string): string | undefined {
    // `null: x`, `? : x` and `: x` have the empty key.
    if (node === null || (isScalar(node) && node.value === null)) return ''
    const { value } = isAlias(node) || isScalar(node) ? this.convert(node, path, 0) : NOTHING
    if (value instanceof Float) return floatText(value.value)
    if (typeof value !== 'object') return String(value)
    this.wrong(path, 'has a key that is not a plain value')
    return undefined
  }

  private convertScalar(value: unknown, path: string): Converted {
    switch (typeof value) {
      case 'bigint':
        return { value: integerValue(value), levels: 0 }
      case 'number':
        if (!Number.isFinite(value)) this.wrong(path, 'is not a finite number')
        return { value: floatValue(value), levels: 0 }
      case 'string':
        if (!isStorable(value)) this.wrong(path, 'contains NUL or half a surrogate pair, which cannot be stored')
        this.spend(0, value.length)
        return { value, levels: 0 }
      case 'boolean':
        return { value, levels: 0 }
      default:
        return NOTHING
    }
  }

  private spend(values: number, characters: number): void {
    this.spent.values += values
    this.spent.characters += characters
    const { valuesMax, charactersMax } = this.limits
    if (this.isFull || (this.spent.values <= valuesMax && this.spent.characters <= charactersMax)) return
    this.isFull = true
    this.wrong('', `has more than ${valuesMax} values or ${charactersMax} characters once its aliases are resolved`)
  }

  private wrong(path: string, message: string): Converted {
    this.violations.push({ path, message })
    return NOTHING
  }
}

/** `<<: *base` takes over the keys of another map; in quotes it is a key like any other. */
function isMergeKey(node: unknown): boolean {
  return isScalar(node) && node.value === '<<' && node.type === 'PLAIN'
}

/** How deep collections are nested in the syntax tree; an own stack, because the tree may be a million deep. */
function depthOf(root: CST.Token, enough: number): number {
  let deepest = 0
  const stack: [CST.Token, number][] = [[root, 0]]
  for (let entry = stack.pop(); entry !== undefined && deepest <= enough; entry = stack.pop()) {
    const [token, depth] = entry
    deepest = Math.max(deepest, depth)
    if (token.type === 'document') {
      if (token.value) stack.push([token.value, depth])
    } else if ('items' in token) {
      for (const item of token.items) {
        if (item.key) stack.push([item.key, depth + 1])
        if (item.value) stack.push([item.value, depth + 1])
      }
    }
  }
  return deepest
}

function firstLine(message: string): string {
  return (message.split('\n')[0] as string).slice(0, 200)
}
