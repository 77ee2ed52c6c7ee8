// What this installation publishes, and what nobody may feed back into it: a subscription that reads our own events
// starts executions from the events of the executions it started, for ever, and its consumer would take messages
// away from ours.
import { COMMAND_SUBJECT_PREFIX } from '../outbox/subject.js'

export interface OwnSources {
  /** Of events and of commands. */
  streams: readonly string[]
  /** Filters, each in the form of NATS. */
  subjects: readonly string[]
}

/** Consumers of ours on any stream. */
export const OWN_DURABLE_PREFIX = 'noetl-cp-'

/** `template` is the subject of an event, with placeholders in braces. */
export function ownSources(names: { streams: readonly string[]; subjectPrefix: string; template: string }): OwnSources {
  const rendered = names.template
    .replace('{prefix}', names.subjectPrefix)
    .split('.')
    .map((token) => (token.includes('{') ? '*' : token))
    .join('.')
  const subjects = [names.subjectPrefix, COMMAND_SUBJECT_PREFIX].flatMap((prefix) => [prefix, `${prefix}.>`])
  return { streams: names.streams, subjects: [...new Set([...subjects, rendered])] }
}

export interface NamedSource {
  stream?: string | undefined
  subject?: string | undefined
  durable?: string | undefined
}

/** Why a source must not be read by a subscription, with the key it is about; undefined when it may. */
export function ownSourceProblem(
  own: OwnSources,
  { stream, subject, durable }: NamedSource,
): { key: keyof NamedSource; message: string } | undefined {
  if (stream !== undefined && own.streams.includes(stream)) {
    return { key: 'stream', message: `${stream} is a stream of our own; read another one` }
  }
  if (subject !== undefined) {
    const overlap = own.subjects.find((filter) => subjectsOverlap(filter, subject))
    if (overlap !== undefined) {
      return {
        key: 'subject',
        message: `takes in ${overlap}, which is our own; name the subjects more narrowly, or leave it out and name the stream`,
      }
    }
  }
  if (durable?.startsWith(OWN_DURABLE_PREFIX) === true) {
    return { key: 'durable', message: `names beginning with ${OWN_DURABLE_PREFIX} belong to our own consumers` }
  }
  return undefined
}

/** Whether a subject exists that both filters match. */
export function subjectsOverlap(one: string, other: string): boolean {
  const [left, right] = [one.split('.'), other.split('.')]
  for (let index = 0; ; index++) {
    const [a, b] = [left[index], right[index]]
    if (a === undefined || b === undefined) return a === b
    if (a === '>' || b === '>') return true
    if (a !== b && a !== '*' && b !== '*') return false
  }
}
