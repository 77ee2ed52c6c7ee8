// Events from a file or from standard input: one JSON object per line, a JSON array, or an object with a list
// called `events`. Which of them it is shows at the beginning.
import { parseJson } from '../../domain/json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { CpError, toCpError } from '../../errors.js'
import type { CommandContext } from '../command.js'
import { isList, readItems } from '../jsonItems.js'
import { type Line, readLines } from '../lines.js'
import { nameOf, openSource } from '../source.js'

export async function readEventFile(context: CommandContext, path: string): Promise<JsonObject[]> {
  const events: JsonObject[] = []
  for await (const event of readEvents(context, path)) events.push(event)
  return events
}

/** One by one, and none is kept: only an object that wraps its list has to be read as a whole. */
export async function* readEvents(context: CommandContext, path: string): AsyncIterable<JsonObject> {
  const name = nameOf(path)
  const { isList: isAList, source } = await isList(openSource(context, path))
  if (isAList) yield* readList(source, name)
  else yield* readObjects(source, name)
}

async function* readList(source: AsyncIterable<Buffer>, name: string): AsyncIterable<JsonObject> {
  let index = 0
  for await (const text of readItems(source, name)) {
    const value = readJson(text, `item ${index} of ${name}`)
    if (!isJsonObject(value)) throw new CpError('invalid_input', `item ${index} of ${name} is not an event`)
    index += 1
    yield value
  }
}

async function* readObjects(source: AsyncIterable<Buffer>, name: string): AsyncIterable<JsonObject> {
  let document: string[] | undefined
  let isFirst = true
  for await (const line of readLines(source)) {
    const text = textOf(line, name)
    if (document !== undefined) document.push(text)
    else if (isFirst && !isEventLine(text)) document = [text]
    else yield parseLine(text, line.number, name)
    isFirst = false
  }
  if (document !== undefined) yield* eventsOf(readJson(document.join('\n'), name), name)
}

function textOf(line: Line, name: string): string {
  if (line.text !== undefined) return line.text
  throw new CpError('invalid_input', `line ${line.number} of ${name} is not UTF-8 text`)
}

/** A first line that is a complete object, and not one that wraps a list. */
function isEventLine(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false
  try {
    const value = parseJson(text)
    return isJsonObject(value) && !Array.isArray(value['events'])
  } catch {
    return false
  }
}

function parseLine(text: string, number: number, name: string): JsonObject {
  const value = readJson(text, `line ${number} of ${name}`)
  if (isJsonObject(value)) return value
  throw new CpError('invalid_input', `line ${number} of ${name} is not an event: an event is a JSON object`)
}

function readJson(text: string, where: string): JsonValue {
  try {
    return parseJson(text)
  } catch (error) {
    throw new CpError('invalid_input', `${where} is not valid JSON: ${toCpError(error).message}`, { cause: error })
  }
}

function eventsOf(document: JsonValue, name: string): JsonObject[] {
  const list = isJsonObject(document) && Array.isArray(document['events']) ? document['events'] : document
  if (isJsonObject(list)) return [list]
  if (!Array.isArray(list)) throw new CpError('invalid_input', `${name} holds no list of events`)
  const owner = isJsonObject(document) ? ownerOf(document) : {}
  return list.map((event, index) => {
    if (!isJsonObject(event)) throw new CpError('invalid_input', `item ${index} of ${name} is not an event`)
    return { ...owner, ...event }
  })
}

/** What a wrapped list says once for all its events. */
function ownerOf(document: JsonObject): JsonObject {
  const owner: JsonObject = {}
  for (const key of ['execution_id', 'tenant_id', 'organization_id']) {
    if (document[key] !== undefined && document[key] !== null) owner[key] = document[key]
  }
  return owner
}
