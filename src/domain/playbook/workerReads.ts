// What a worker will look up while it runs a tool, so that a command carries that much of the context and no more.

import type { TemplatePath } from '../template/readPaths.js'
import type { Template } from '../template/template.js'
import type { CompiledTree } from '../template/tree.js'
import { PipelineNames } from './deferral.js'

export function deferredTemplates(tree: CompiledTree | undefined): Template[] {
  return tree === undefined ? [] : [...tree.deferred, ...tree.deferredKeys].map(({ template }) => template)
}

const NO_NAMES = new PipelineNames([], [], false)

/** The distinct paths of these templates, without those that exist in the worker only. */
export function workerReads(templates: readonly Template[], names = NO_NAMES): TemplatePath[] {
  const byText = new Map<string, TemplatePath>()
  for (const path of templates.flatMap(({ paths }) => paths)) {
    if (!names.isWorkerOnly(path.root)) byText.set([path.root, ...path.keys, path.isOpen].join('\0'), path)
  }
  return [...byText.values()]
}
