// What differs between two JSON documents, usually two replay states: one entry per place, named by an
// RFC 6901 pointer, in a fixed order (keys by code point, list items by index). A whole subtree that is
// only on one side is one entry. Integers and floats differ even when they look alike, because their
// checksums do.

import { canonicalJson } from '../json/canonical.js'
import { compareCodePoints } from '../json/codePoints.js'
import { escapeSegment } from '../json/pointer.js'
import { Float, isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { SURFACES } from './profile.js'

export type Difference =
  | { pointer: string; kind: 'added'; to: JsonValue }
  | { pointer: string; kind: 'removed'; from: JsonValue }
  | { pointer: string; kind: 'changed'; from: JsonValue; to: JsonValue }

export function diffDocuments(from: JsonValue, to: JsonValue): Difference[] {
  const found: Difference[] = []
  compare('', from, to, found)
  return found
}

// Sums of the documents differ whenever anything does; they say nothing of their own.
const SUMS = new Set(['/checksum', ...SURFACES.map((surface) => `/projection_checksums/${surface}`)])
// Of profile `server`.
const TYPED_SUM = /^\/(?:checksum|projection_checksums\/[a-z_]+)\/value$/

/** Between two states: what changed, without the checksums that follow from it. */
export function contentDifferences(from: JsonObject, to: JsonObject): Difference[] {
  return diffDocuments(from, to).filter(({ pointer }) => !SUMS.has(pointer) && !TYPED_SUM.test(pointer))
}

function compare(pointer: string, from: JsonValue, to: JsonValue, found: Difference[]): void {
  if (from === to) return
  if (Array.isArray(from) && Array.isArray(to)) {
    compareLists(pointer, from, to, found)
  } else if (isJsonObject(from) && isJsonObject(to)) {
    compareObjects(pointer, from, to, found)
  } else if (isComposite(from) || isComposite(to) || canonicalJson(from) !== canonicalJson(to)) {
    found.push({ pointer, kind: 'changed', from, to })
  }
}

function isComposite(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof Float)
}

function compareLists(
  pointer: string,
  from: readonly JsonValue[],
  to: readonly JsonValue[],
  found: Difference[],
): void {
  for (let index = 0; index < Math.max(from.length, to.length); index++) {
    if (from[index] !== to[index]) compareChild(`${pointer}/${index}`, from[index], to[index], found)
  }
}

function compareObjects(pointer: string, from: JsonObject, to: JsonObject, found: Difference[]): void {
  for (const key of keysOfBoth(from, to))
    compareChild(`${pointer}/${escapeSegment(key)}`, ownValue(from, key), ownValue(to, key), found)
}

/** In the order in which differences are told. */
export function keysOfBoth(from: JsonObject, to: JsonObject): string[] {
  return Array.from(new Set([...Object.keys(from), ...Object.keys(to)])).sort(compareCodePoints)
}

export function ownValue(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

function compareChild(
  pointer: string,
  from: JsonValue | undefined,
  to: JsonValue | undefined,
  found: Difference[],
): void {
  if (from !== undefined && to !== undefined) compare(pointer, from, to, found)
  else if (to !== undefined) found.push({ pointer, kind: 'added', to })
  else if (from !== undefined) found.push({ pointer, kind: 'removed', from })
}
