// Where a document of the catalog names another entry that it would start. Only what is written plainly is found: what a template
// makes of a path is known when it is run, and a path of a file (`./child.yaml`) leads somewhere only below `noetl-cp run`.
import { CpError } from '../../errors.js'
import { type FailureHook, failureHookOf, playbookOf } from '../failures/failureHook.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { childCalls } from '../playbook/childCalls.js'

export interface Reference {
  /** JSON pointer of the name in the document. */
  pointer: string
  /** Null where it is not in a step. */
  step: string | null
}

export interface Referred {
  path: string
  /** Of all of its versions. */
  catalogIds: ReadonlySet<string>
}

export function referencesTo(entry: Referred, kind: string, document: JsonObject): Reference[] {
  return kind === 'subscription'
    ? dispatchesTo(entry, document)
    : [...callsOf(entry, document), ...hooksTo(entry, document)]
}

function callsOf({ path, catalogIds }: Referred, document: JsonObject): Reference[] {
  return childCalls(document)
    .filter((call) => call.path === path || (call.catalogId !== undefined && catalogIds.has(call.catalogId)))
    .map(({ pointer }) => ({ pointer, step: stepAt(document, pointer) }))
}

function stepAt({ workflow }: JsonObject, pointer: string): string | null {
  const index = /^\/workflow\/(\d+)\//.exec(pointer)?.[1]
  const step = index !== undefined && Array.isArray(workflow) ? workflow[Number(index)] : undefined
  const name = isJsonObject(step) ? step['step'] : undefined
  return typeof name === 'string' ? name : null
}

function hooksTo({ path }: Referred, document: JsonObject): Reference[] {
  return playbookOf(hookOf(document)) === path ? [{ pointer: '/metadata/on_failure', step: null }] : []
}

/** A database that was adopted may hold one that registration would refuse. */
function hookOf(document: JsonObject): FailureHook | undefined {
  try {
    return failureHookOf(document)
  } catch (error) {
    if (error instanceof CpError) return undefined
    throw error
  }
}

/** What its messages start, and what a header of theirs may choose instead. */
function dispatchesTo({ path }: Referred, document: JsonObject): Reference[] {
  const spec = mapOf(document['spec'])
  const found: Reference[] = []
  if (mapOf(spec['dispatch'])['playbook'] === path) found.push({ pointer: '/spec/dispatch/playbook', step: null })
  const directives = mapOf(spec['headers'])['directives']
  for (const [index, directive] of (Array.isArray(directives) ? directives : []).entries()) {
    const { controls, allowed } = mapOf(directive)
    if (controls !== 'dispatch.playbook' || !Array.isArray(allowed) || !allowed.includes(path)) continue
    found.push({ pointer: `/spec/headers/directives/${index}/allowed/${allowed.indexOf(path)}`, step: null })
  }
  return found
}

function mapOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}
