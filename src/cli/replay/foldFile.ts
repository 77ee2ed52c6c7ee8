// Folds the events of a file. A file in the order of ids, as exports are, is read once and only the state is in
// memory. A file in another order, or with events of several owners, is read again as a whole. Standard input and
// pipes cannot be read twice, so they are read as a whole at once.
import { stat } from 'node:fs/promises'
import type { JsonObject } from '../../domain/json/value.js'
import {
  createStreamedReplay,
  type FileReplay,
  isOfAnotherOwner,
  replayEvents,
  type StreamedReplay,
} from '../../services/replay/fileReplay.js'
import type { ParsedRequest } from '../../services/replay/request.js'
import type { CommandContext, Input } from '../command.js'
import { textOption } from '../options.js'
import { readEventFile, readEvents } from './eventFile.js'
import { requestOfEvents } from './options.js'

export interface FoldedFile {
  request: ParsedRequest
  replayed: FileReplay
}

export async function foldFile(context: CommandContext, input: Input, path: string): Promise<FoldedFile> {
  const streamed = (await canReadAgain(path)) ? await foldInOrder(context, input, path) : null
  if (streamed !== null) return streamed
  const events = await readEventFile(context, path)
  const request = requestOfEvents(context, input, events)
  return { request, replayed: replayEvents(request.profile, request.query, events) }
}

/** Null: these events do not come in order, or not from one owner. */
async function foldInOrder(context: CommandContext, input: Input, path: string): Promise<FoldedFile | null> {
  const given = givenOwner(input)
  let opened: { first: JsonObject; request: ParsedRequest; replay: StreamedReplay } | undefined
  for await (const event of readEvents(context, path)) {
    if (opened === undefined) {
      // Another event may say it.
      if (!given.has('execution_id') && (event['execution_id'] ?? null) === null) return null
      const request = requestOfEvents(context, input, [event])
      opened = { first: event, request, replay: createStreamedReplay(request.profile, request.query) }
    }
    if (isOfAnotherOwner(event, opened.first, given) || !opened.replay.add(event)) return null
  }
  return opened === undefined ? null : { request: opened.request, replayed: opened.replay.finish() }
}

function givenOwner(input: Input): ReadonlySet<string> {
  const told = {
    execution_id: textOption(input, 'execution') ?? input.args['id'],
    tenant_id: textOption(input, 'tenant'),
    organization_id: textOption(input, 'organization'),
  }
  return new Set(Object.entries(told).flatMap(([key, value]) => (value === undefined ? [] : [key])))
}

async function canReadAgain(path: string): Promise<boolean> {
  if (path === '-') return false
  // A file that is not there is reported by whoever reads it.
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}
