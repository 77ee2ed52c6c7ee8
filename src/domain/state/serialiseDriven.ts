// The facts of a driven execution as JSON text and back; part of the text that serialiseState.ts writes. Equal facts give
// equal text. Fields of a fact that hold canonical JSON are written as they are.

import { canonicalJson, canonicalText } from '../json/canonical.js'
import type { JsonObject, JsonValue } from '../json/value.js'
import {
  type Arrival,
  type Command,
  commandStatus,
  countCommand,
  type DrivenState,
  type DrivenStep,
  type ExitFact,
  emptyVisit,
  type FailureFact,
  type Visit,
  type VisitEnter,
} from './drivenState.js'
import { corrupt, listOf, numberOf, objectOf, textOf } from './storedText.js'

/** Fields that are canonical JSON. */
const PAYLOADS: ReadonlySet<string> = new Set(['result', 'reference', 'error', 'own', 'items', 'args'])
const COMMAND_FACTS = ['callback', 'done', 'failure', 'first', 'issued', 'outcome', 'parked'] as const

export function writeDriven(driven: DrivenState): string {
  const failures = writeMap(driven.failures, writeFields)
  const taken = writeMap(driven.taken, String)
  return `{"engine":${driven.engine},"failures":${failures},"steps":${writeMap(driven.steps, writeStep)},"taken":${taken}}`
}

function writeStep(step: DrivenStep): string {
  const { lastFinished, lastSettled, notTaken, settled } = step
  const beyond = [...settled.beyond].sort((a, b) => a - b)
  const skipped = notTaken === undefined ? '' : `"notTaken":${writeFields(notTaken)},`
  return (
    `{"lastFinished":${lastFinished},"lastSettled":${lastSettled},${skipped}` +
    `"settled":[${[settled.upTo, ...beyond].join(',')}],"visits":${writeMap(step.visits, writeVisit)}}`
  )
}

function writeVisit(visit: Visit): string {
  const parts: string[] = []
  if (visit.answered !== undefined) parts.push(`"answered":${visit.answered}`)
  if (visit.arrivals.size > 0) parts.push(`"arrivals":${writeMap(visit.arrivals, writeFields)}`)
  if (visit.commands.size > 0) parts.push(`"commands":${writeMap(visit.commands, writeCommand)}`)
  if (visit.enter !== undefined) parts.push(`"enter":${writeFields(visit.enter)}`)
  if (visit.exit !== undefined) parts.push(`"exit":${writeFields(visit.exit)}`)
  return `{${parts.join(',')}}`
}

function writeCommand(command: Command): string {
  const parts: string[] = []
  if (command.attempt !== undefined) parts.push(`"attempt":${command.attempt}`)
  if (command.claimed === true) parts.push('"claimed":true')
  for (const key of COMMAND_FACTS) {
    const fact = command[key]
    if (fact !== undefined) parts.push(`"${key}":${writeFields(fact)}`)
  }
  if (command.started !== undefined) parts.push(`"started":"${command.started}"`)
  return `{${parts.join(',')}}`
}

function writeFields(fact: object): string {
  let text = ''
  for (const key of Object.keys(fact).sort()) {
    const value = (fact as Record<string, unknown>)[key]
    if (value === undefined) continue
    const written = PAYLOADS.has(key) ? (value as string) : canonicalJson(value as JsonValue)
    text += `${text === '' ? '' : ','}"${key}":${written}`
  }
  return `{${text}}`
}

function writeMap<K extends string | number, T>(map: ReadonlyMap<K, T>, write: (value: T) => string): string {
  const parts = [...map.keys()]
    .sort((a, b) => (a < b ? -1 : 1))
    .map((key) => `${canonicalText(String(key))}:${write(map.get(key) as T)}`)
  return `{${parts.join(',')}}`
}

export function readDriven(value: JsonValue): DrivenState {
  const object = objectOf(value)
  return {
    engine: numberOf(object['engine']),
    failures: readMap(object['failures'], (one) => readFact<FailureFact>(one)),
    steps: readMap(object['steps'], readStep),
    taken: readMap(object['taken'], numberOf),
  }
}

function readStep(value: JsonValue): DrivenStep {
  const object = objectOf(value)
  const [upTo, ...beyond] = listOf(object['settled']).map(numberOf)
  if (upTo === undefined) throw corrupt('a step has no visits')
  const step: DrivenStep = {
    lastFinished: numberOf(object['lastFinished']),
    lastSettled: numberOf(object['lastSettled']),
    settled: { upTo, beyond: new Set(beyond) },
    visits: new Map([...readMap(object['visits'], readVisit)].map(([key, visit]) => [Number(key), visit])),
  }
  if (object['notTaken'] !== undefined) step.notTaken = readFact(object['notTaken'])
  return step
}

function readVisit(value: JsonValue): Visit {
  const object = objectOf(value)
  const visit = emptyVisit()
  if (object['enter'] !== undefined) visit.enter = readFact<VisitEnter>(object['enter'])
  if (object['exit'] !== undefined) visit.exit = readFact<ExitFact>(object['exit'])
  if (object['answered'] !== undefined) visit.answered = canonicalJson(object['answered'])
  for (const [arc, arrival] of readMap(object['arrivals'], (one) => readFields(one) as unknown as Arrival)) {
    visit.arrivals.set(Number(arc), arrival)
  }
  for (const [suffix, command] of readMap(object['commands'], readCommand)) {
    visit.commands.set(suffix, command)
    countCommand(visit.tally, suffix, 'unknown', commandStatus(command))
  }
  return visit
}

function readCommand(value: JsonValue): Command {
  const object = objectOf(value)
  const command: Command = {}
  if (object['attempt'] !== undefined) command.attempt = numberOf(object['attempt'])
  if (object['claimed'] === true) command.claimed = true
  if (object['started'] !== undefined) command.started = textOf(object['started'])
  for (const key of COMMAND_FACTS) {
    if (object[key] !== undefined) Object.assign(command, { [key]: readFact(object[key]) })
  }
  return command
}

function readFact<T extends { id: string }>(value: JsonValue | undefined): T {
  const fact = readFields(value)
  textOf(fact['id'])
  return fact as unknown as T
}

function readFields(value: JsonValue | undefined): JsonObject {
  const fields = { ...objectOf(value) }
  for (const key of Object.keys(fields)) {
    if (PAYLOADS.has(key)) fields[key] = canonicalJson(fields[key] as JsonValue)
  }
  return fields
}

function readMap<T>(value: JsonValue | undefined, read: (value: JsonValue) => T): Map<string, T> {
  const object = objectOf(value)
  return new Map(Object.keys(object).map((key) => [key, read(object[key] as JsonValue)]))
}
