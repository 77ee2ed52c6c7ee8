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
}

export interface TreeProblem {
  readonly pointer: string
  readonly error: TemplateError
}

export interface TreeOptions {
  /** How the text at this pointer is read; by default as any text. */
  readonly textOptions?: (pointer: string) => TemplateOptions & { readonly isText?: boolean }
  /** Takes the mistakes; without it the first one is thrown. */
  readonly problems?: TreeProblem[]
}

export interface CompiledTree {
  readonly templates: readonly PlacedTemplate[]
  value(context: TemplateContext): TemplateValue
}

type Build = (context: TemplateContext) => TemplateValue

export function renderTree(source: JsonValue, options: TreeOptions = {}): CompiledTree {
  const templates: PlacedTemplate[] = []
  const build = compile(source, '', templates, options)
  return { templates, value: build ?? (() => source) }
}

/** Undefined when nothing below needs rendering. */
function compile(
  source: JsonValue,
  pointer: string,
  templates: PlacedTemplate[],
  options: TreeOptions,
): Build | undefined {
  if (typeof source === 'string') return compileText(source, pointer, templates, options)
  if (Array.isArray(source)) {
    const builds = source.map((item, index) => compile(item, `${pointer}/${index}`, templates, options))
    if (builds.every((build) => build === undefined)) return undefined
    return (context) => source.map((item, index) => orSelf(builds[index], item, context))
  }
  return isJsonObject(source) ? compileMap(source, pointer, templates, options) : undefined
}

function orSelf(build: Build | undefined, source: JsonValue, context: TemplateContext): JsonValue {
  return build === undefined ? source : (build(context) ?? null)
}

function compileText(
  source: string,
  pointer: string,
  templates: PlacedTemplate[],
  options: TreeOptions,
): Build | undefined {
  const how = options.textOptions?.(pointer) ?? {}
  try {
    const template = Template.compile(source, how)
    if (template === undefined) return undefined
    templates.push({ pointer, template })
    return how.isText === true ? (context) => template.textValue(context) : (context) => template.value(context)
  } catch (error) {
    if (!(error instanceof TemplateError) || options.problems === undefined) throw error
    options.problems.push({ pointer, error })
    return undefined
  }
}

function compileKey(
  key: string,
  pointer: string,
  templates: PlacedTemplate[],
  options: TreeOptions,
): ((context: TemplateContext) => string) | undefined {
  const before = templates.length
  compileText(key, pointer, templates, options)
  const template = templates[before]?.template
  return template === undefined ? undefined : (context) => template.textValue(context)
}

function compileMap(
  source: JsonObject,
  pointer: string,
  templates: PlacedTemplate[],
  options: TreeOptions,
): Build | undefined {
  const entries = Object.keys(source).map((key) => {
    const place = `${pointer}/${escapeSegment(key)}`
    return {
      key,
      keyBuild: compileKey(key, place, templates, options),
      value: source[key] as JsonValue,
      build: compile(source[key] as JsonValue, place, templates, options),
    }
  })
  if (entries.every(({ keyBuild, build }) => keyBuild === undefined && build === undefined)) return undefined
  return (context) => {
    const map: JsonObject = {}
    for (const { key, keyBuild, value, build } of entries) {
      const name = keyBuild === undefined ? key : keyBuild(context)
      setKey(map, name, orSelf(build, value, context))
    }
    return map
  }
}
