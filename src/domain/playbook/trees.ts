// Compiled values put together into bigger ones, with the pointers of what is deferred kept right.

import { escapeSegment } from '../json/pointer.js'
import { isJsonObject, type JsonObject, type JsonValue, setKey } from '../json/value.js'
import { templateError } from '../template/templateError.js'
import type { CompiledTree, PlacedTemplate } from '../template/tree.js'
import type { PlanSite, SiteTreeOptions } from './site.js'
import type { Placed } from './toolSource.js'

/** A compiled map and the keys it surely has. */
export interface Layer {
  readonly tree: CompiledTree
  readonly keys: readonly string[]
}

export function fixedLayer(map: JsonObject): Layer {
  return { tree: { templates: [], deferred: [], deferredKeys: [], value: () => map }, keys: Object.keys(map) }
}

/** A map with this one key. */
export function keyLayer(key: string, tree: CompiledTree): Layer {
  const moved = movedBelow(tree, `/${escapeSegment(key)}`)
  const value: CompiledTree['value'] = (context) => {
    const map: JsonObject = {}
    setKey(map, key, tree.value(context) ?? null)
    return map
  }
  return { tree: { ...moved, value }, keys: [key] }
}

export function listTree(items: readonly CompiledTree[]): CompiledTree {
  const moved = items.map((tree, index) => movedBelow(tree, `/${index}`))
  return {
    templates: moved.flatMap(({ templates }) => templates),
    deferred: moved.flatMap(({ deferred }) => deferred),
    deferredKeys: moved.flatMap(({ deferredKeys }) => deferredKeys),
    value: (context) => items.map((tree) => tree.value(context) ?? null),
  }
}

/** One map of several, the weakest first. */
export function mergeLayers(layers: readonly Layer[]): CompiledTree {
  const [only] = layers
  if (layers.length === 1 && only !== undefined) return only.tree
  const kept = layers.map(({ tree }, index) => {
    const stronger = new Set(layers.slice(index + 1).flatMap(({ keys }) => keys.map(escapeSegment)))
    const stays = ({ pointer }: PlacedTemplate): boolean => !stronger.has(pointer.split('/', 2)[1] ?? '')
    return {
      templates: tree.templates.filter(stays),
      deferred: tree.deferred.filter(stays),
      deferredKeys: tree.deferredKeys.filter(stays),
    }
  })
  return {
    templates: kept.flatMap(({ templates }) => templates),
    deferred: kept.flatMap(({ deferred }) => deferred),
    deferredKeys: kept.flatMap(({ deferredKeys }) => deferredKeys),
    value: (context) => {
      const merged: JsonObject = {}
      for (const { tree } of layers) {
        for (const [key, value] of Object.entries(tree.value(context) as JsonObject)) setKey(merged, key, value)
      }
      return merged
    },
  }
}

/** Arguments: maps, or templates that must give one; the weakest first. Undefined when there are none. */
export function argumentTree(
  layers: readonly Placed[],
  site: PlanSite,
  options: SiteTreeOptions = {},
): CompiledTree | undefined {
  const read = layers.flatMap(({ value, pointer }): Layer[] => {
    if (isJsonObject(value)) return [{ tree: site.tree(value, pointer, options), keys: Object.keys(value) }]
    const tree = typeof value === 'string' ? site.tree(value, pointer, options) : undefined
    if (tree !== undefined && tree.templates.length > 0) return [{ tree: mapOnly(tree, value), keys: [] }]
    if (tree !== undefined && tree.deferred.length > 0) {
      site.problems.error(pointer, 'is only known where the tool runs; write a mapping and use the template inside it')
    } else {
      site.problems.error(pointer, 'must be a mapping of names to values')
    }
    return []
  })
  return read.length === 0 ? undefined : mergeLayers(read)
}

function mapOnly(tree: CompiledTree, source: JsonValue): CompiledTree {
  return {
    ...tree,
    value: (context) => {
      const value = tree.value(context)
      if (isJsonObject(value)) return value
      throw templateError('gives no map of arguments', String(source), 0)
    },
  }
}

function movedBelow(tree: CompiledTree, place: string): CompiledTree {
  const moved = (one: PlacedTemplate): PlacedTemplate => ({ ...one, pointer: place + one.pointer })
  return {
    templates: tree.templates.map(moved),
    deferred: tree.deferred.map(moved),
    deferredKeys: tree.deferredKeys.map(moved),
    value: tree.value,
  }
}
