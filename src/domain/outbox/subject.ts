// NATS subjects: how an event's or a command's subject is built, and which subjects may be published to.
// A subject must never carry a wildcard or reach into the server's own space: a tenant name with a dot or a
// star in it would otherwise address somebody else's messages.

import { CpError } from '../../errors.js'
import { shardOf } from '../shards/shards.js'

export const EVENT_SUBJECT_TEMPLATE = 'noetl.events.{tenant}.{organization}.{execution}.{shard}'
export const COMMAND_SUBJECT_PREFIX = 'noetl.commands'
/** NATS itself has no limit but its control line; this is far below it and far above what names need. */
export const SUBJECT_BYTES_MAX = 256

const PLACEHOLDERS = ['tenant', 'organization', 'execution', 'shard'] as const

export interface EventSubjectValues {
  tenant: string | null | undefined
  organization: string | null | undefined
  execution: string | null | undefined
  shard: number
}

/** One token: everything outside letters, digits, `_` and `-` becomes `-`, none at the ends. */
export function cleanToken(text: string | null | undefined, whenEmpty = 'default'): string {
  // Most are clean: an id, or a plain name.
  if (typeof text === 'string' && /^[A-Za-z0-9_]+$/.test(text)) return text
  const cleaned = (text ?? '').replace(/[^A-Za-z0-9_-]/gu, '-').replace(/^-+|(?<!-)-+$/g, '')
  return cleaned === '' ? whenEmpty : cleaned
}

export function renderEventSubject(values: EventSubjectValues, template: string = EVENT_SUBJECT_TEMPLATE): string {
  const tokens: Record<(typeof PLACEHOLDERS)[number], string> = {
    tenant: cleanToken(values.tenant),
    organization: cleanToken(values.organization),
    execution: cleanToken(values.execution, 'none'),
    shard: String(values.shard),
  }
  return template.replace(/\{(tenant|organization|execution|shard)\}/g, (_, name: keyof typeof tokens) => tokens[name])
}

/** Checked once at start, so that a bad template cannot park every outbox row later. */
export function assertSubjectTemplate(template: string): void {
  const unknown = (template.match(/\{[^}]*\}?|\}/g) ?? []).filter(
    (part) => !PLACEHOLDERS.some((name) => part === `{${name}}`),
  )
  if (unknown.length > 0) {
    throw new CpError(
      'config',
      `the subject template has an unknown placeholder; known are ${PLACEHOLDERS.map((name) => `{${name}}`).join(', ')}`,
      { details: { unknown } },
    )
  }
  assertPublishableSubject(
    renderEventSubject({ tenant: 't', organization: 'o', execution: '1', shard: 0 }, template),
    'subject template',
  )
}

/** Printable ASCII only: other characters are legal on the wire but look alike, and no server tool escapes them. */
export function assertPublishableSubject(subject: string, field = 'subject'): void {
  const problem = subjectProblem(subject)
  if (problem === undefined) return
  throw new CpError('invalid_input', `${field} cannot be published to: ${problem}`, { details: { field } })
}

// What nearly every subject looks like; one look instead of one per token.
const PLAIN = /^[A-Za-z0-9-][A-Za-z0-9_-]*(\.[A-Za-z0-9-][A-Za-z0-9_-]*)*$/

function subjectProblem(subject: string): string | undefined {
  if (subject.length <= SUBJECT_BYTES_MAX && PLAIN.test(subject)) return undefined
  if (subject === '') return 'it is empty'
  if (Buffer.byteLength(subject, 'utf8') > SUBJECT_BYTES_MAX) return `it is longer than ${SUBJECT_BYTES_MAX} bytes`
  if (!/^[\x21-\x7e]+$/.test(subject)) return 'it contains a space, a control character or a character outside ASCII'
  for (const token of subject.split('.')) {
    if (token === '') return 'it has an empty token (a dot at an end, or two in a row)'
    if (token.includes('*') || token.includes('>')) return 'it contains a wildcard (* or >)'
    if (token.startsWith('$')) return 'a token starts with $, which belongs to the server'
    if (token.toUpperCase() === '_INBOX') return '_INBOX belongs to the request and reply mechanism'
  }
  return undefined
}

export interface CommandRoute {
  pool: string
  executionId: string
  /** NOETL_SHARD_SUBJECT_ROUTE and the number of drive shards of the system pool. */
  shardRoute: boolean
  commandShardCount: number
}

/** Only the pool named exactly `system` is ever routed by shard; the broad filter of a pool matches both forms. */
export function commandSubject(route: CommandRoute): string {
  const { pool, executionId, shardRoute, commandShardCount } = route
  const routed = shardRoute && commandShardCount > 1 && pool === 'system'
  const shard = routed ? `.shard.${shardOf(executionId, commandShardCount)}` : ''
  return `${COMMAND_SUBJECT_PREFIX}.${cleanToken(pool, 'shared')}${shard}.${executionId}`
}

/** The worker pool of an execution: what the request asks for, else by catalog path. */
export function commandPool(requested: string | undefined, catalogPath: string | undefined): string {
  if (requested !== undefined && requested !== '') return requested
  if (catalogPath?.startsWith('system/')) return 'system'
  return catalogPath?.startsWith('subscription/') ? 'subscription' : 'shared'
}

/** Filter semantics of NATS: literal tokens, `*` for one, a trailing `>` for one or more. */
export function subjectMatches(filter: string, subject: string): boolean {
  const wanted = filter.split('.')
  const tokens = subject.split('.')
  for (const [index, part] of wanted.entries()) {
    if (part === '>') return index === wanted.length - 1 && tokens.length > index
    if (index >= tokens.length || (part !== '*' && part !== tokens[index])) return false
  }
  return tokens.length === wanted.length
}
