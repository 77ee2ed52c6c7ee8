// The facts of a live state as one JSON text and back. Equal facts give equal text, byte for byte, whatever
// order they arrived in. Payloads are stored in their canonical form already, so writing a large state is
// little more than joining texts. A text that is not exactly such a state is refused as corrupt; a snapshot
// is a cache, and the log can always be folded again.

import { CpError } from '../../errors.js'
import { isTerminalStatus } from '../executions/executionStatus.js'
import { type CatalogId, type ExecutionId, parseExecutionId } from '../ids/ids.js'
import { canonicalJson, canonicalText } from '../json/canonical.js'
import { parseJson } from '../json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import { payloadLength } from './applyCommand.js'
import { weighDriven } from './drivenWeight.js'
import { readDriven, writeDriven } from './serialiseDriven.js'
import { corrupt, listOf, objectOf, textOf } from './storedText.js'
import {
  COMMAND_BYTES,
  type CommandFacts,
  type DoneFact,
  ENTRY_BYTES,
  emptyState,
  type Fact,
  FOLD_VERSION,
  type OutcomeFact,
  type Register,
  STEP_BYTES,
  type StartedFact,
  type StepFacts,
  type WorkflowState,
} from './workflowState.js'

/** The field that holds canonical JSON and is written as it is. */
const PAYLOAD_KEY = 'result'
const STEP_KEYS = ['claimed', 'done', 'drained', 'enter', 'entered', 'exit', 'failed', 'skipped', 'started'] as const

export function serialiseState(state: WorkflowState): string {
  const parts: string[] = []
  const add = (key: string, text: string | undefined) => {
    if (text !== undefined) parts.push(`"${key}":${text}`)
  }
  add('catalog', state.catalog && canonicalJson([state.catalog.id, state.catalog.value]))
  add('ctx', writeRegisters(state.ctx))
  add('driven', state.driven && writeDriven(state.driven))
  add('end', state.end && writeFact(state.end))
  add('execution_id', canonicalText(state.executionId))
  add('fold_version', String(FOLD_VERSION))
  add('marks', writeRegisters(state.marks))
  add('parent', state.parent && canonicalJson([state.parent.id, state.parent.value]))
  add('path', writeRegister(state.path))
  add('running', String(state.running))
  add('started', state.started && writeFact(state.started))
  add('steps', writeMap(state.steps, writeStep))
  add('vars', writeRegisters(state.vars))
  add('version', writeRegister(state.version))
  add('workload', writeRegister(state.workload))
  return `{${parts.join(',')}}`
}

export function parseState(text: string): WorkflowState {
  const document = parseJson(text)
  if (!isJsonObject(document)) throw corrupt('it is not an object')
  if (document['fold_version'] !== FOLD_VERSION) {
    throw new CpError('schema_mismatch', 'the stored state was made by another fold version; fold the log again', {
      details: { found: String(document['fold_version']), expected: FOLD_VERSION },
    })
  }
  const state = emptyState(readExecutionId(document['execution_id']))
  state.running = document['running'] === true
  const catalog = readPair(document['catalog'])
  const parent = readPair(document['parent'])
  if (catalog !== undefined) state.catalog = { id: catalog.id, value: textOf(catalog.value) as CatalogId }
  if (parent !== undefined) state.parent = { id: parent.id, value: textOf(parent.value) as ExecutionId }
  for (const key of ['path', 'version', 'workload'] as const) {
    const register = readPair(document[key])
    if (register !== undefined) {
      state[key] = { id: register.id, value: canonicalJson(register.value) }
      state.bytes += state[key].value.length
    }
  }
  if (document['started'] !== undefined) state.started = readFact<Fact>(document['started'])
  if (document['end'] !== undefined) state.end = readEnd(document['end'])
  readRegisters(document['ctx'], state.ctx, state)
  readRegisters(document['marks'], state.marks, state)
  readRegisters(document['vars'], state.vars, state)
  if (document['driven'] !== undefined) {
    state.driven = readDriven(document['driven'])
    state.bytes += weighDriven(state.driven)
  }
  const steps = objectOf(document['steps'])
  for (const name of Object.keys(steps)) {
    state.bytes += STEP_BYTES + name.length
    state.steps.set(name, readStep(objectOf(steps[name]), state))
  }
  return state
}

function writeStep(step: StepFacts): string {
  const parts: string[] = []
  if (step.commands.size > 0) parts.push(`"commands":${writeMap(step.commands, writeCommand)}`)
  for (const key of STEP_KEYS) {
    const fact = step[key]
    if (fact !== undefined) parts.push(`"${key}":${writeFact(fact)}`)
  }
  if (step.stale.size > 0) parts.push(`"stale":${canonicalJson([...step.stale].sort())}`)
  return `{${parts.join(',')}}`
}

/** Spelled out because a large loop has a hundred thousand of them. */
function writeCommand(command: CommandFacts): string {
  const { claimed, done, exit, first, issued, outcome, started } = command
  let text = claimed === true ? '{"claimed":true,' : '{'
  if (done !== undefined) text += `"done":${writeDone(done)},`
  if (exit !== undefined) text += `"exit":${writeDone(exit)},`
  text += `"first":"${first}"`
  if (issued !== undefined) text += `,"issued":${writeFact(issued)}`
  if (outcome !== undefined) text += `,"outcome":${writeOutcome(outcome)}`
  if (started !== undefined) text += `,"started":${writeStarted(started)}`
  return `${text}}`
}

function writeDone(fact: DoneFact): string {
  return fact.result === undefined
    ? `{"at":"${fact.at}","id":"${fact.id}"}`
    : `{"at":"${fact.at}","id":"${fact.id}","result":${fact.result}}`
}

function writeStarted(fact: StartedFact): string {
  return fact.attempt === undefined ? `{"id":"${fact.id}"}` : `{"attempt":${fact.attempt},"id":"${fact.id}"}`
}

function writeOutcome(fact: OutcomeFact): string {
  let text = `{"at":"${fact.at}",`
  if (fact.error !== undefined) text += `"error":${canonicalText(fact.error)},`
  text += `"id":"${fact.id}","ok":${fact.ok}`
  if (fact.parked === true) text += ',"parked":true'
  if (fact.result !== undefined) text += `,"result":${fact.result}`
  return `${text}}`
}

/** Any other fact: its fields by name. */
function writeFact(fact: object): string {
  const values = fact as Record<string, JsonValue>
  const parts = Object.keys(values)
    .filter((key) => values[key] !== undefined)
    .sort()
    .map((key) => `"${key}":${key === PAYLOAD_KEY ? (values[key] as string) : canonicalJson(values[key] as JsonValue)}`)
  return `{${parts.join(',')}}`
}

function writeMap<T>(map: ReadonlyMap<string, T>, write: (value: T) => string): string {
  const parts = [...map.keys()].sort().map((key) => `${canonicalText(key)}:${write(map.get(key)!)}`)
  return `{${parts.join(',')}}`
}

function writeRegister(register: Register<string> | undefined): string | undefined {
  if (register?.value === '') return `[${canonicalText(register.id)}]`
  return register && `[${canonicalText(register.id)},${register.value}]`
}

function writeRegisters(map: ReadonlyMap<string, Register<string>>): string | undefined {
  return map.size === 0 ? undefined : writeMap(map, (register) => writeRegister(register) as string)
}

function readStep(object: JsonObject, state: WorkflowState): StepFacts {
  const step: StepFacts = { commands: new Map(), stale: new Set() }
  for (const key of STEP_KEYS) {
    if (object[key] === undefined) continue
    const fact = readFact<DoneFact>(object[key])
    state.bytes += fact.result?.length ?? 0
    Object.assign(step, { [key]: fact })
  }
  const commands = objectOf(object['commands'])
  for (const id of Object.keys(commands)) {
    const command = readCommand(objectOf(commands[id]))
    step.commands.set(id, command)
    state.bytes += COMMAND_BYTES + id.length + payloadLength(command)
  }
  for (const id of listOf(object['stale'])) {
    step.stale.add(textOf(id))
    state.bytes += COMMAND_BYTES + textOf(id).length
  }
  return step
}

function readCommand(object: JsonObject): CommandFacts {
  const command: CommandFacts = { first: textOf(object['first']) }
  if (object['claimed'] === true) command.claimed = true
  for (const key of ['issued', 'started', 'done', 'outcome', 'exit'] as const) {
    if (object[key] !== undefined) Object.assign(command, { [key]: readFact(object[key]) })
  }
  return command
}

function readEnd(value: JsonValue): NonNullable<WorkflowState['end']> {
  const end = readFact<NonNullable<WorkflowState['end']>>(value)
  if (!isTerminalStatus(end.status)) throw corrupt('the final status is unknown')
  return end
}

/** A fact is a flat object with an event id; payloads inside go back to their text. */
function readFact<T extends { id: string }>(value: JsonValue | undefined): T {
  const fact = { ...objectOf(value) }
  textOf(fact['id'])
  if (fact[PAYLOAD_KEY] !== undefined) fact[PAYLOAD_KEY] = canonicalJson(fact[PAYLOAD_KEY])
  return fact as unknown as T
}

function readRegisters(value: JsonValue | undefined, into: Map<string, Register<string>>, state: WorkflowState): void {
  const object = objectOf(value)
  for (const key of Object.keys(object)) {
    const list = listOf(object[key])
    // One that was removed has no value.
    const pair = list.length === 1 ? undefined : readPair(list)
    const id = pair?.id ?? textOf(list[0])
    const text = pair === undefined ? '' : canonicalJson(pair.value)
    into.set(key, { id, value: text })
    state.bytes += ENTRY_BYTES + key.length + text.length
  }
}

function readPair(value: JsonValue | undefined): { id: string; value: JsonValue } | undefined {
  if (value === undefined) return undefined
  const [id, second] = listOf(value)
  if (second === undefined) throw corrupt('a pair has no second part')
  return { id: textOf(id), value: second }
}

function readExecutionId(value: JsonValue | undefined): ExecutionId {
  try {
    return parseExecutionId(value)
  } catch (cause) {
    throw new CpError('corrupt', 'the stored state names no execution; fold the log again', { cause })
  }
}
