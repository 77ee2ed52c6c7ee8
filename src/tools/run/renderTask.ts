// Finishes a value for a tool: stored results in place of references, deferred texts rendered. What templates read of the
// keychain is opened before they are rendered.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { textOptionsOf } from '../../domain/playbook/textFields.js'
import type { TemplateValue } from '../../domain/template/run.js'
import type { Template } from '../../domain/template/template.js'
import { renderTree } from '../../domain/template/tree.js'
import {
  at,
  deferredTexts,
  pathOf,
  renderDeferred,
  replaced,
  templateFailure,
} from '../../domain/tool/deferredTemplates.js'
import type { PipelineContext } from '../../domain/tool/pipelineContext.js'
import type { ToolCommand } from '../../domain/tool/toolCommand.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import { type Keychain, tokenOf } from '../credentials/keychain.js'
import type { ResultStore } from './resultStore.js'

/** token(name) of an entry that is not open yet: open it and render again. */
class NotOpen extends Error {
  constructor(readonly entry: string) {
    super(`keychain entry ${entry} is not open`)
  }
}

const OPENINGS_MAX = 100

/** `root`: JSON pointer of the value in the command. */
export async function renderTask<T extends JsonValue>(
  value: T,
  root: string,
  kind: string,
  command: ToolCommand,
  context: PipelineContext,
  keychain: Keychain,
): Promise<T> {
  const { deferred, deferredKeys } = command
  const places = { root, texts: deferred, keys: deferredKeys, textOptions: textOptionsOf(kind) }
  const texts = deferredTexts(value, places)
  const render = (): T =>
    texts.reduce((done, text) => renderDeferred(done, text, contextOf([text.template], context, keychain)), value)
  return rendered(
    texts.map(({ template }) => template),
    render,
    keychain,
    0,
  )
}

/** An entry of the keychain stands there as its author wrote it: every text of it is a template. */
export async function renderEntry(
  entry: JsonObject,
  context: PipelineContext,
  keychain: Keychain,
  depth: number,
): Promise<JsonObject> {
  const { name, ...fields } = entry
  const place = `keychain entry "${String(name)}"`
  try {
    const tree = renderTree(fields)
    const templates = tree.templates.map(({ template }) => template)
    const render = (): JsonObject => tree.value(contextOf(templates, context, keychain)) as JsonObject
    return { name: name ?? null, ...(await rendered(templates, render, keychain, depth)) }
  } catch (error) {
    throw templateFailure(error, place)
  }
}

async function rendered<T>(
  templates: readonly Template[],
  render: () => T,
  keychain: Keychain,
  depth: number,
): Promise<T> {
  for (const template of templates) {
    for (const { root, keys } of template.paths) {
      if (root !== 'keychain') continue
      if (keys[0] === undefined) throw new ToolFailure('template', `${template.text}: name the entry of the keychain`)
      await keychain.open(keys[0], depth + 1)
    }
  }
  for (let openings = 0; ; openings++) {
    try {
      return render()
    } catch (error) {
      if (!(error instanceof NotOpen) || openings === OPENINGS_MAX) throw error
      await keychain.open(error.entry, depth + 1)
    }
  }
}

/** `keychain.x` alone is its token; with a field behind it, its fields. */
function contextOf(templates: readonly Template[], context: PipelineContext, keychain: Keychain): PipelineContext {
  const entries: JsonObject = {}
  for (const { root, keys, isOpen } of templates.flatMap(({ paths }) => paths)) {
    const name = keys[0]
    if (root !== 'keychain' || name === undefined) continue
    const fields = keychain.get(name) ?? {}
    const isWhole = keys.length === 1 && !isOpen && !Object.hasOwn(entries, name)
    entries[name] = isWhole ? (tokenOf(fields) ?? fields) : fields
  }
  const token = (name: string): TemplateValue => {
    const fields = keychain.get(name)
    if (fields === undefined) throw new NotOpen(name)
    return tokenOf(fields)
  }
  return context.with(Object.keys(entries).length === 0 ? {} : { keychain: entries }, token)
}

/** Puts stored results in place of the maps that refer to them. */
export async function resolveReferences<T extends JsonValue>(
  value: T,
  root: string,
  pointers: readonly string[],
  results: ResultStore,
  signal: AbortSignal,
): Promise<T> {
  let resolved: JsonValue = value
  for (const pointer of pointers) {
    if (!pointer.startsWith(`${root}/`)) continue
    const path = pathOf(pointer.slice(root.length))
    const found = at(resolved, path)
    const ref = isJsonObject(found) ? found['__ref__'] : undefined
    if (typeof ref === 'string') resolved = replaced(resolved, path, await results.get(ref, signal))
  }
  return resolved as T
}
