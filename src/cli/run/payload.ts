// The values of a run: the workload of the playbook under a file under --payload under --set.

import type { Violation } from '../../domain/catalog/violation.js'
import { readYaml, YAML_LIMITS } from '../../domain/catalog/yamlText.js'
import { parseJsonStrict } from '../../domain/json/parse.js'
import { type Assignment, assign, assignment } from '../../domain/json/replaceAt.js'
import { INPUT_DEPTH_MAX, isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import type { Plan } from '../../domain/playbook/plan.js'
import { CpError, toCpError } from '../../errors.js'
import { readOptionFile } from '../source.js'

export interface PayloadOptions {
  /** JSON or YAML. */
  file: string | undefined
  /** JSON, or @file. */
  payload: string | undefined
  /** `key=value` or `key:=text`; keys may have dots. */
  sets: readonly string[]
}

/** What was given, read and well-formed; the workload that it goes over may be known later. */
export interface GivenValues {
  /** The file under --payload; undefined when there is neither. */
  values: JsonObject | undefined
  sets: readonly Assignment[]
}

export async function readValues({ file, payload, sets }: PayloadOptions): Promise<GivenValues> {
  const ofFile = file === undefined ? {} : mapOf(readDocument(await readOptionFile(file), file), file)
  const ofPayload = payload === undefined ? {} : mapOf(await readGiven(payload), '--payload')
  return {
    values: file === undefined && payload === undefined ? undefined : { ...ofFile, ...ofPayload },
    sets: sets.map(readAssignment),
  }
}

/** For a start. Keys with dots go deeper into what is given for their first part, else into the default of the playbook. */
export function payloadOver(
  { values, sets }: GivenValues,
  plan: Pick<Plan, 'workload' | 'workloadDefaults'> | undefined,
): JsonObject | undefined {
  if (values === undefined && sets.length === 0) return undefined
  const payload: JsonObject = { ...values }
  for (const set of sets) assign(payload, set, (key) => defaultOf(plan, key))
  if (plan !== undefined) assertNoTemplates(payload, sets, values, plan)
  return payload
}

function defaultOf(plan: Pick<Plan, 'workload'> | undefined, key: string): JsonValue | undefined {
  return plan !== undefined && Object.hasOwn(plan.workload, key) ? plan.workload[key] : undefined
}

/** A template beside what is set would go along as part of a payload, and there it would stay the text it is. */
function assertNoTemplates(
  payload: JsonObject,
  sets: readonly Assignment[],
  values: JsonObject | undefined,
  { workloadDefaults }: Pick<Plan, 'workloadDefaults'>,
): void {
  for (const { key, source, tree } of workloadDefaults) {
    const deep = sets.find(({ keys }) => keys[0] === key && keys.length > 1)
    if (deep === undefined || (values !== undefined && Object.hasOwn(values, key))) continue
    const left = tree.templates.find(({ pointer }) => {
      const text = valueAt(source, pointer)
      return text !== undefined && valueAt(payload[key], pointer) === text
    })
    if (left === undefined) continue
    const place = `${key}${left.pointer.replaceAll('/', '.')}`
    throw new CpError(
      'invalid_input',
      `--set ${deep.name}: ${place} beside it is a template in the workload, and would stay text; give all of it: --set '${key}=…'`,
    )
  }
}

function valueAt(root: JsonValue | undefined, pointer: string): JsonValue | undefined {
  let value = root
  for (const escaped of pointer.split('/').slice(1)) {
    const segment = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(value)) value = value[Number(segment)]
    else value = isJsonObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined
  }
  return value
}

function readDocument(text: string, name: string): JsonValue {
  const violations: Violation[] = []
  const value = readYaml(text, YAML_LIMITS, violations)
  const [first] = violations
  if (first !== undefined || value === undefined) {
    throw new CpError('invalid_input', `${name} is neither JSON nor YAML: ${first?.message ?? 'it is empty'}`)
  }
  return value
}

async function readGiven(text: string): Promise<JsonValue> {
  if (text.startsWith('@')) return readDocument(await readOptionFile(text.slice(1)), text.slice(1))
  try {
    return parseJsonStrict(text, { maxDepth: INPUT_DEPTH_MAX })
  } catch (error) {
    throw new CpError('invalid_input', `--payload is not JSON: ${toCpError(error).message}`, { cause: error })
  }
}

function mapOf(value: JsonValue, name: string): JsonObject {
  if (isJsonObject(value)) return value
  throw new CpError('invalid_input', `${name} must hold a map of values`)
}

function readAssignment(set: string): Assignment {
  const at = set.indexOf('=')
  if (at < 1) throw new CpError('invalid_input', `--set must be key=value, not ${JSON.stringify(set)}`)
  const isText = set[at - 1] === ':'
  const name = set.slice(0, isText ? at - 1 : at)
  const text = set.slice(at + 1)
  return assignment(name, isText ? text : readValue(text))
}

function readValue(text: string): JsonValue {
  try {
    return parseJsonStrict(text, { maxDepth: INPUT_DEPTH_MAX })
  } catch {
    // What is not JSON is the text itself.
    return text
  }
}
