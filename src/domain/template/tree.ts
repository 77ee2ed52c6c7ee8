// A value of a document with templates anywhere in it: each text with tags is compiled once, everything else is handed out
// as it stands. Keys with tags are rendered too. What a render gives is never rendered again.

import { escapeSegment } from '../json/pointer.js'
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import type { TemplateContext, TemplateValue } from './run.js'
import { Template, type TemplateOptions } from './template.js'
import { TemplateError } from './templateError.js'

export interface PlacedTemplate {
  /** JSON pointer below the value that was compiled. */
  readonly pointer: string
  readonly template: Template
  /** JSON pointer in the document, where it is known. */
  readonly place?: string
}

export interface TreeProblem {
  readonly pointer: string
  readonly error: TemplateError
}

export interface TextOptions extends TemplateOptions {
  /** The outcome is text whatever it looks like. */
  readonly isText?: boolean
}

export interface TreeOptions {
  /** How the text at this pointer is read; by default as any text. */
  readonly textOptions?: (pointer: string) => TextOptions
  /** Takes the mistakes; without it the first one is thrown. */
  readonly problems?: TreeProblem[]
  /** In place of Template.compile, for whoever remembers what was compiled. */
  readonly compile?: (text: string, options: TemplateOptions) => Template | undefined
  /** Whether the value at this pointer stays as it is, with everything below. */
  readonly isLeft?: (pointer: string) => boolean
  /** Whether a template stays as text, for somebody else to render. */
  readonly isDeferred?: (template: Template) => boolean
}

export interface CompiledTree {
  /** Those that are rendered here. */
  readonly templates: readonly PlacedTemplate[]
  /** Those that stay as text. */
  readonly deferred: readonly PlacedTemplate[]
  /** Keys that stay as text; the value at the same pointer is not meant. */
  readonly deferredKeys: readonly PlacedTemplate[]
  value(context: TemplateContext): TemplateValue
}

export function renderTree(source: JsonValue, options: TreeOptions = {}): CompiledTree {
  return new TreeCompiler(options).tree(source)
}

type Build = (context: TemplateContext) => TemplateValue

class TreeCompiler {
  private readonly templates: PlacedTemplate[] = []
  private readonly deferred: PlacedTemplate[] = []
  private readonly deferredKeys: PlacedTemplate[] = []

  constructor(private readonly options: TreeOptions) {}

  tree(source: JsonValue): CompiledTree {
    const build = this.build(source, '')
    const { templates, deferred, deferredKeys } = this
    return { templates, deferred, deferredKeys, value: build ?? (() => source) }
  }

  /** Undefined when nothing below needs rendering. */
  private build(source: JsonValue, pointer: string): Build | undefined {
    if (this.options.isLeft?.(pointer) === true) return undefined
    if (typeof source === 'string') return this.text(source, pointer)
    if (Array.isArray(source)) return this.list(source, pointer)
    return isJsonObject(source) ? this.map(source, pointer) : undefined
  }

  private text(source: string, pointer: string): Build | undefined {
    const how = this.options.textOptions?.(pointer) ?? {}
    const template = this.compile(source, pointer, how)
    if (template === undefined) return undefined
    if (this.options.isDeferred?.(template) === true) {
      this.deferred.push({ pointer, template })
      return undefined
    }
    this.templates.push({ pointer, template })
    return how.isText === true ? (context) => template.textValue(context) : (context) => template.value(context)
  }

  private list(source: JsonValue[], pointer: string): Build | undefined {
    const builds = source.map((item, index) => this.build(item, `${pointer}/${index}`))
    if (builds.every((build) => build === undefined)) return undefined
    return (context) => source.map((item, index) => orSelf(builds[index], item, context))
  }

  private map(source: JsonObject, pointer: string): Build | undefined {
    const entries = Object.keys(source).map((key) => {
      const place = `${pointer}/${escapeSegment(key)}`
      const value = source[key] as JsonValue
      const before = this.deferredCount
      const build = this.build(value, place)
      return { key, keyBuild: this.key(key, place, this.deferredCount > before), value, build }
    })
    if (entries.every(({ keyBuild, build }) => keyBuild === undefined && build === undefined)) return undefined
    return (context) => {
      const map: JsonObject = {}
      for (const { key, keyBuild, value, build } of entries) {
        setKey(map, keyBuild === undefined ? key : keyBuild(context), orSelf(build, value, context))
      }
      return map
    }
  }

  private get deferredCount(): number {
    return this.deferred.length + this.deferredKeys.length
  }

  /** A key above something deferred is deferred too: the pointers of what is deferred must hold after rendering. */
  private key(
    key: string,
    pointer: string,
    isAboveDeferred: boolean,
  ): ((context: TemplateContext) => string) | undefined {
    if (this.options.isLeft?.(pointer) === true) return undefined
    const template = this.compile(key, pointer, {})
    if (template === undefined) return undefined
    if (isAboveDeferred || this.options.isDeferred?.(template) === true) {
      this.deferredKeys.push({ pointer, template })
      return undefined
    }
    this.templates.push({ pointer, template })
    return (context) => template.textValue(context)
  }

  private compile(text: string, pointer: string, how: TemplateOptions): Template | undefined {
    const { compile, problems } = this.options
    try {
      return compile === undefined ? Template.compile(text, how) : compile(text, how)
    } catch (error) {
      if (!(error instanceof TemplateError) || problems === undefined) throw error
      problems.push({ pointer, error })
      return undefined
    }
  }
}

function orSelf(build: Build | undefined, source: JsonValue, context: TemplateContext): JsonValue {
  return build === undefined ? source : (build(context) ?? null)
}
