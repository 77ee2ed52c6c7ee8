// Holds the evidence against the ledger. Pure: the same evidence gives the same verdict, and every rule has a test
// that plants what it must find.
import { shardOf } from '../src/domain/shards/shards.js'
import { judge as judgeStream, type StreamMessage } from '../test/support/stream.js'
import type { EventRow, Evidence, ShardEvidence } from './evidence.js'
import type { Violation } from './journal.js'
import type { Ledger, LedgerExecution } from './ledger.js'

export interface Tally {
  events: number
  acknowledged: number
  outboxRows: number
  projected: number
  delivered: number
  executions: number
  ended: number
  sourced: number
  started: number
  pauses: number
}

export interface Judgement {
  tally: Tally
  violations: Violation[]
}

type LedgerView = Pick<Ledger, 'executions' | 'starts' | 'sourced' | 'pauses' | 'refused' | 'restored'>

export function judgeEvidence(evidence: Evidence, ledger: LedgerView, subscriptionId: string | undefined): Judgement {
  const violations = [
    ...judgeLog(evidence, ledger),
    ...judgeNumbers(evidence),
    ...judgeDelivery(evidence, ledger),
    ...judgeStarts(evidence, ledger, subscriptionId),
    ...judgePauses(ledger),
    ...judgeEnds(evidence, ledger),
    ...judgeMirror(evidence),
    ...judgeMinted(ledger),
  ]
  const started = evidence.shards.flatMap(({ events }) => startsOf(events, subscriptionId))
  const executions = [...ledger.executions.values()]
  return {
    violations,
    tally: {
      events: sum(evidence.shards, ({ events }) => events.length),
      acknowledged: sum(executions, ({ events }) => events.filter(({ acknowledged }) => acknowledged).length),
      outboxRows: sum(evidence.shards, ({ outbox }) => outbox.length),
      delivered: evidence.messages.length,
      projected: evidence.projected.length,
      executions: sum(evidence.shards, (shard) => shard.executions.length),
      ended: sum(evidence.shards, (shard) => shard.executions.filter(({ status }) => isEnd(status)).length),
      sourced: ledger.sourced.size,
      started: started.length,
      pauses: ledger.pauses.length,
    },
  }
}

/** I1, first half: acknowledged means stored, in its own database, as it was sent; refused means not stored. */
function judgeLog({ shards }: Evidence, ledger: LedgerView): Violation[] {
  const found: Violation[] = []
  const stored = shards.map(({ events }) => new Map(events.map((row) => [`${row.execution_id}:${row.event_id}`, row])))
  for (const { executionId, events } of ledger.executions.values()) {
    const home = shardOf(executionId, shards.length)
    for (const event of events) {
      const row = stored[home]!.get(`${executionId}:${event.eventId}`)
      const about = { invariant: 'I1' as const, executionId, eventId: event.eventId, at: event.at }
      if (row === undefined) {
        if (event.acknowledged)
          found.push({
            ...about,
            kind: 'lost',
            message: `event ${event.eventId} (${event.type}) of ${executionId} was acknowledged and is not in the log of shard ${home}`,
          })
      } else if (row.event_type !== event.type || row.mark !== event.mark) {
        found.push({
          ...about,
          kind: 'altered',
          message: `event ${event.eventId} of ${executionId} was sent as ${event.type} ${event.mark} and is stored as ${row.event_type} ${row.mark}`,
        })
      }
    }
  }
  for (const [shard, { events }] of shards.entries()) {
    for (const row of events) {
      const about = { invariant: 'I1' as const, executionId: row.execution_id, eventId: row.event_id }
      if (shardOf(row.execution_id, shards.length) !== shard)
        found.push({
          ...about,
          kind: 'misplaced',
          message: `event ${row.event_id} of ${row.execution_id} lies in shard ${shard}, where nobody looks for it`,
        })
      if (row.mark !== null && ledger.refused.has(row.mark))
        found.push({
          ...about,
          kind: 'uninvited',
          message: `the refused request ${row.mark} left event ${row.event_id} in the log`,
        })
    }
  }
  return found
}

/** I5: every event has a number, the numbers of an execution are 1 to n, and the read model counts the same. */
function judgeNumbers({ shards }: Evidence): Violation[] {
  const found: Violation[] = []
  for (const { events, executions } of shards) {
    const byExecution = groupByExecution(events)
    const rows = new Map(executions.map((row) => [row.execution_id, row]))
    for (const [executionId, list] of byExecution) {
      const numbers = list.map((row) => row.stream_version)
      const expected = numbers.map((_, index) => String(index + 1))
      const sorted = numbers.filter((number) => number !== null).sort((a, b) => Number(a) - Number(b))
      if (numbers.includes(null))
        found.push({
          invariant: 'I5',
          kind: 'stuck',
          executionId,
          message: `${numbers.filter((number) => number === null).length} event(s) of ${executionId} never got a number`,
        })
      else if (sorted.join() !== expected.join())
        found.push({
          invariant: 'I5',
          kind: 'misnumbered',
          executionId,
          message: `the ${numbers.length} events of ${executionId} have the numbers ${sorted.join(' ')}`,
        })
      const row = rows.get(executionId)
      if (row === undefined)
        found.push({
          invariant: 'I5',
          kind: 'not projected',
          executionId,
          message: `execution ${executionId} is missing in the read model`,
        })
      else if (Number(row.event_count) !== list.length || Number(row.stream_version) !== list.length)
        found.push({
          invariant: 'I5',
          kind: 'not projected',
          executionId,
          message: `the read model of ${executionId} counts ${row.event_count} events up to number ${row.stream_version}, the log has ${list.length}`,
        })
    }
  }
  return found
}

/**
 * I1, second half, I2 and I3: the stream holds every outbox row once, in order, as it is, and nothing else. What the broker
 * lost with a disk was in order once; an audit sends it again, later than what came after it.
 */
function judgeDelivery({ shards, messages }: Evidence, { restored }: LedgerView): Violation[] {
  const found: Violation[] = []
  const homes = messages.map((message) =>
    message.executionId === undefined ? -1 : shardOf(message.executionId, shards.length),
  )
  const say = (
    invariant: 'I1' | 'I2' | 'I3',
    kind: string,
    ids: readonly string[],
    text: (id: string) => string,
  ): void => {
    for (const id of ids) {
      const [executionId, eventId] = id.split(':')
      found.push({
        invariant,
        kind,
        message: text(id),
        ...(executionId && { executionId }),
        ...(eventId && { eventId }),
      })
    }
  }
  for (const [shard, { outbox }] of shards.entries()) {
    const mine = messages.filter((_, index) => homes[index] === shard)
    const verdict = judgeStream(mine, outbox)
    say('I1', 'lost', verdict.lost, (id) => `outbox row ${id} of shard ${shard} is not in the stream`)
    say('I1', 'uninvited', verdict.uninvited, (id) => `message ${id} has no outbox row`)
    const unordered = verdict.outOfOrder.filter((id) => !restored.messages.has(id))
    say('I2', 'out of order', unordered, (id) => `message ${id} came after a later row of its execution`)
    say('I3', 'duplicate', verdict.duplicates, (id) => `message ${id} is stored more than once`)
    found.push(...judgeRows(shard, outbox, mine))
  }
  const stray = messages.filter((_, index) => homes[index] === -1)
  say(
    'I1',
    'uninvited',
    stray.map((message) => message.messageId ?? `sequence ${message.seq}`),
    (id) => `message ${id} names no execution`,
  )
  return found
}

function judgeRows(shard: number, outbox: ShardEvidence['outbox'], messages: readonly StreamMessage[]): Violation[] {
  const found: Violation[] = []
  const bodies = new Map(messages.map((message) => [message.messageId, message]))
  for (const row of outbox) {
    const about = { invariant: 'I1' as const, executionId: row.execution_id, eventId: row.event_id }
    if (row.status !== 'PUBLISHED')
      found.push({
        ...about,
        kind: 'stuck',
        message: `outbox row ${row.outbox_id} of shard ${shard} (${row.message_id}) is ${row.status} after ${row.attempts} attempt(s)${row.last_error === null ? '' : `: ${row.last_error}`}`,
      })
    const message = bodies.get(row.message_id)
    if (message !== undefined && message.headers['Noetl-Claim-Check'] === undefined && message.body !== row.payload)
      found.push({
        ...about,
        kind: 'altered',
        message: `the body of message ${row.message_id} is not the payload of its outbox row`,
      })
  }
  return found
}

/** I6, and the promise of dedup keys: one execution per key and per message of the source. */
function judgeStarts(
  { shards, deadLetters, quarantined }: Evidence,
  ledger: LedgerView,
  subscriptionId: string | undefined,
): Violation[] {
  const found: Violation[] = []
  const byMark = new Map<string, string[]>()
  for (const { events } of shards) {
    for (const row of events) {
      if (row.mark?.startsWith('start-') !== true) continue
      byMark.set(row.mark, [...(byMark.get(row.mark) ?? []), row.execution_id])
    }
  }
  for (const [mark, ids] of ledger.starts) {
    const started = byMark.get(mark) ?? []
    const [executionId] = [...ids]
    if (ids.size === 1 && started.length === 1 && started[0] === executionId) continue
    const kind = started.length === 0 ? 'lost' : 'started twice'
    found.push({
      invariant: 'I1',
      kind,
      executionId: executionId!,
      message: `the start ${mark} was answered with ${[...ids].join(' and ')} and the log has ${started.join(' and ') || 'none'}`,
    })
  }
  const started = new Map<number, number>()
  for (const { events } of shards)
    for (const row of startsOf(events, subscriptionId)) started.set(row.n!, (started.get(row.n!) ?? 0) + 1)
  // A message that the source itself has lost may have been started before, and need not.
  for (const n of ledger.sourced)
    if (!started.has(n) && !ledger.restored.sourced.has(n))
      found.push({ invariant: 'I6', kind: 'stuck', message: `message ${n} of the source never started an execution` })
  for (const [n, count] of started)
    if (count > 1)
      found.push({
        invariant: 'I6',
        kind: 'started twice',
        message: `message ${n} of the source started ${count} executions`,
      })
  for (const text of deadLetters)
    found.push({ invariant: 'I6', kind: 'stuck', message: `the subscription gave a good message up: ${text}` })
  for (const text of quarantined)
    found.push({ invariant: 'I5', kind: 'stuck', message: `the projector set a good event aside: ${text}` })
  return found
}

function judgePauses(ledger: LedgerView): Violation[] {
  return ledger.pauses
    .filter(({ startedAtPause, startedAtResume }) => startedAtPause !== startedAtResume)
    .map((pause) => ({
      invariant: 'I6' as const,
      kind: 'started while paused',
      at: pause.from,
      message: `subscription ${pause.subscriptionId} had started ${pause.startedAtPause} executions when its pause was acknowledged at ${pause.from.toFixed(1)} s and ${pause.startedAtResume} before it was resumed at ${pause.to.toFixed(1)} s`,
    }))
}

/** An acknowledged end is what the read model says, unless several writers disagreed. */
function judgeEnds({ shards }: Evidence, ledger: LedgerView): Violation[] {
  const found: Violation[] = []
  const status = new Map(
    shards.flatMap(({ executions }) => executions.map((row) => [row.execution_id, row.status] as const)),
  )
  for (const { executionId, ended } of ledger.executions.values() as Iterable<LedgerExecution>) {
    if (ended === undefined || status.get(executionId) === ended) continue
    found.push({
      invariant: 'I5',
      kind: 'not projected',
      executionId,
      message: `execution ${executionId} ended as ${ended} and the read model says ${status.get(executionId)}`,
    })
  }
  return found
}

/** I5: the projector of another installation has stored every event that was published, as it is, and no other. */
function judgeMirror({ shards, projected }: Evidence): Violation[] {
  const found: Violation[] = []
  const copies = new Map(projected.map((row) => [idOf(row), row]))
  for (const { events, outbox } of shards) {
    const originals = new Map(events.map((row) => [idOf(row), row]))
    for (const row of outbox) {
      const about = { invariant: 'I5' as const, executionId: row.execution_id, eventId: row.event_id }
      const [original, copy] = [originals.get(row.message_id), copies.get(row.message_id)]
      copies.delete(row.message_id)
      if (copy === undefined) {
        const message = `the other installation has not stored ${row.message_id}`
        found.push({ ...about, kind: 'not projected', message })
      } else if (original?.event_type !== copy.event_type || original.mark !== copy.mark) {
        const message = `${row.message_id} is ${original?.event_type} ${original?.mark} here and ${copy.event_type} ${copy.mark} in the other installation`
        found.push({ ...about, kind: 'altered', message })
      }
    }
  }
  for (const id of copies.keys())
    found.push({
      invariant: 'I5',
      kind: 'uninvited',
      message: `the other installation has stored ${id}, which was never published`,
    })
  return found
}

/** I9: later means above, whichever daemon minted with whichever clock. */
function judgeMinted({ executions, starts }: LedgerView): Violation[] {
  const found: Violation[] = []
  for (const { executionId, chain = [] } of executions.values()) {
    for (const [index, eventId] of chain.entries()) {
      if (index === 0 || BigInt(eventId) > BigInt(chain[index - 1]!)) continue
      const message = `event ${eventId} of ${executionId} was asked for after ${chain[index - 1]} was acknowledged, and sorts before it`
      found.push({ invariant: 'I9', kind: 'out of order', executionId, eventId, message })
    }
  }
  const owners = new Map<string, string>()
  for (const [mark, ids] of starts) {
    for (const executionId of ids) {
      const other = owners.get(executionId)
      if (other !== undefined)
        found.push({
          invariant: 'I9',
          kind: 'minted twice',
          executionId,
          message: `the starts ${other} and ${mark} were both answered with ${executionId}`,
        })
      owners.set(executionId, mark)
    }
  }
  return found
}

const idOf = (row: { execution_id: string; event_id: string }): string => `${row.execution_id}:${row.event_id}`

function startsOf(events: readonly EventRow[], subscriptionId: string | undefined): EventRow[] {
  return events.filter(
    (row) => row.n !== null && row.parent_execution_id !== null && row.parent_execution_id === subscriptionId,
  )
}

export function groupByExecution(events: readonly EventRow[]): Map<string, EventRow[]> {
  const groups = new Map<string, EventRow[]>()
  for (const row of events) {
    const list = groups.get(row.execution_id)
    if (list === undefined) groups.set(row.execution_id, [row])
    else list.push(row)
  }
  return groups
}

const isEnd = (status: string): boolean => ['COMPLETED', 'FAILED', 'CANCELLED'].includes(status)
const sum = <T>(list: readonly T[], of: (item: T) => number): number =>
  list.reduce((total, item) => total + of(item), 0)
