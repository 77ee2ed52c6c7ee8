// The options that replay subcommands share, and what they mean as a request.

import { replayDeps } from '../../daemon/replay.js'
import type { JsonObject } from '../../domain/json/value.js'
import type { ReplayQuery } from '../../domain/replay/replayQuery.js'
import { CpError } from '../../errors.js'
import { ownerOfEvents } from '../../services/replay/fileReplay.js'
import { ownerOf, type ReplayDeps } from '../../services/replay/replay.js'
import { type Parameters, type ParsedRequest, parseProfile, parseReplayRequest } from '../../services/replay/request.js'
import type { CommandContext, Input, OptionSpec } from '../command.js'
import { isSet, textOption } from '../options.js'

export const OWNER_OPTIONS: readonly OptionSpec[] = [
  { flags: '--tenant <id>', help: 'tenant; usually that of the execution' },
  { flags: '--organization <id>', help: 'organisation; usually that of the execution' },
  { flags: '--profile <name>', help: 'fold rules: cp, python or server', completes: ['cp', 'python', 'server'] },
]

export const CUTOFF_OPTIONS: readonly OptionSpec[] = [
  { flags: '--as-of-event <id>', help: 'up to this event; at most one of the four' },
  { flags: '--as-of-position <id>', help: 'an older name of --as-of-event' },
  { flags: '--as-of-time <time>', help: 'up to this time, to the microsecond' },
  { flags: '--as-of-version <n>', help: "up to this number within the execution's log" },
]

export const FILE_OPTIONS: readonly OptionSpec[] = [
  { flags: '--file <path>', help: 'events from a file (NDJSON or JSON, - for standard input) and no database' },
  { flags: '--execution <id>', help: 'with --file: which execution, if there are several', completes: 'execution' },
]

/** What was asked for in the words of the HTTP parameters. */
export function parametersOf(input: Input): Record<string, string> {
  const named: Record<string, string | undefined> = {
    tenant_id: textOption(input, 'tenant'),
    organization_id: textOption(input, 'organization'),
    projection: textOption(input, 'projection'),
    limit: textOption(input, 'limit'),
    as_of_event_id: textOption(input, 'as-of-event'),
    as_of_position: textOption(input, 'as-of-position'),
    as_of_time: textOption(input, 'as-of-time'),
    as_of_version: textOption(input, 'as-of-version'),
    ids: textOption(input, 'ids'),
    ...(isSet(input, 'from-snapshot') ? { from_snapshot: 'true' } : {}),
    ...(isSet(input, 'resolve-payloads') ? { resolve_payloads: 'true' } : {}),
  }
  return Object.fromEntries(Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

export function profileOf(context: CommandContext, input: Input) {
  return parseProfile(context.config().config.replayProfile, textOption(input, 'profile'))
}

/** Unknown executions are told apart from empty ones here: a person who mistypes an id should learn it. */
export async function requestOf(
  context: CommandContext,
  input: Input,
  executionId: string,
): Promise<{ deps: ReplayDeps; request: ParsedRequest; parameters: Parameters }> {
  const given = parametersOf(input)
  // Nonsense is refused before anything is opened.
  const check = { ...given, execution_id: executionId }
  parseReplayRequest(profileOf(context, input), check)
  const deps = replayDeps(await context.deps())
  const owner = await ownerOf(deps, executionId)
  const parameters = {
    tenant_id: owner.tenantId,
    organization_id: owner.organizationId,
    ...check,
  }
  return { deps, request: unlimited(parseReplayRequest(profileOf(context, input), parameters), given), parameters }
}

export function requestOfEvents(context: CommandContext, input: Input, events: readonly JsonObject[]): ParsedRequest {
  const given = parametersOf(input)
  const owner = ownerOfEvents(events)
  const executionId = textOption(input, 'execution') ?? input.args['id'] ?? onlyExecution(owner.executionIds)
  const { tenantId: tenant_id, organizationId: organization_id } = owner
  const parameters = { tenant_id, organization_id, ...given, execution_id: executionId }
  return unlimited(parseReplayRequest(profileOf(context, input), parameters), given)
}

function onlyExecution(ids: readonly string[]): string {
  if (ids.length === 1) return ids[0]!
  throw new CpError(
    'invalid_input',
    ids.length === 0
      ? 'the events do not say which execution they belong to; add --execution <id>'
      : `the file holds ${ids.length} executions (${ids.slice(0, 3).join(', ')}…); choose one with --execution <id>`,
  )
}

/** People mean the whole log unless they say otherwise. */
function unlimited(request: ParsedRequest, given: Readonly<Record<string, string>>): ParsedRequest {
  if (given['limit'] !== undefined) return request
  const query: ReplayQuery = { ...request.query, limit: Number.POSITIVE_INFINITY }
  return { ...request, query }
}
