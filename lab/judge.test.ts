// Promise: the judge of the lab finds what it is there to find. Clean evidence is built, one thing is broken in it, and
// exactly that must be named; clean evidence must pass.
import { describe, expect, it } from 'vitest'
import { shardOf } from '../src/domain/shards/shards.js'
import type { StreamMessage } from '../test/support/stream.js'
import type { Evidence, OutboxRowSeen } from './evidence.js'
import { judgeEvidence } from './judge.js'
import { type Ledger, openLedger } from './ledger.js'

const SUBSCRIPTION = '777'

interface Case {
  evidence: Evidence
  ledger: Ledger
}

/** Two executions per shard with four events each, and two messages of a subscription. */
function clean(): Case {
  const ledger = openLedger()
  const evidence: Evidence = {
    shards: [
      { events: [], outbox: [], executions: [] },
      { events: [], outbox: [], executions: [] },
    ],
    messages: [],
    deadLetters: [],
    quarantined: [],
    projected: [],
  }
  const counts = [0, 0]
  while (counts.some((count) => count < 2)) {
    const executionId = ledger.mintId()
    const shard = shardOf(executionId, 2)
    if (counts[shard]! >= 2) continue
    counts[shard]! += 1
    const start = `start-${executionId}`
    ledger.starts.set(start, new Set([executionId]))
    ledger.add({ executionId, mark: start, writer: 'http', events: [], ended: 'COMPLETED' })
    store(evidence, shard, { executionId, type: 'playbook_started', mark: start, eventId: ledger.mintId() })
    for (const type of ['step.enter', 'step.exit', 'playbook.completed']) {
      const event = {
        eventId: ledger.mintId(),
        type,
        step: 's',
        mark: `event-${executionId}-${type}`,
        at: 1,
        acknowledged: true,
      }
      ledger.executions.get(executionId)!.events.push(event)
      store(evidence, shard, { executionId, ...event })
    }
    evidence.shards[shard]!.executions.push({
      execution_id: executionId,
      status: 'COMPLETED',
      event_count: '4',
      stream_version: '4',
    })
  }
  for (const n of [0, 1]) {
    const executionId = ledger.mintId()
    const shard = shardOf(executionId, 2)
    ledger.sourced.add(n)
    store(evidence, shard, { executionId, type: 'playbook_started', mark: null, eventId: ledger.mintId(), n })
    evidence.shards[shard]!.executions.push({
      execution_id: executionId,
      status: 'RUNNING',
      event_count: '1',
      stream_version: '1',
    })
  }
  ledger.pauses.push({ subscriptionId: SUBSCRIPTION, from: 1, to: 2, startedAtPause: 1, startedAtResume: 1 })
  ledger.refused.add('wrong-1')
  return { evidence, ledger }
}

interface Stored {
  executionId: string
  eventId: string
  type: string
  mark: string | null
  n?: number
}

function store(evidence: Evidence, shard: number, { executionId, eventId, type, mark, n }: Stored): void {
  const { events, outbox } = evidence.shards[shard]!
  const version = events.filter((row) => row.execution_id === executionId).length + 1
  events.push({
    execution_id: executionId,
    event_id: eventId,
    stream_version: String(version),
    event_type: type,
    mark,
    parent_execution_id: n === undefined ? null : SUBSCRIPTION,
    n: n ?? null,
  })
  const row: OutboxRowSeen = {
    outbox_id: String(outbox.length + 1),
    execution_id: executionId,
    event_id: eventId,
    message_id: `${executionId}:${eventId}`,
    status: 'PUBLISHED',
    attempts: 1,
    last_error: null,
    payload: `{"event_id": ${eventId}}`,
  }
  outbox.push(row)
  evidence.messages.push(messageOf(row, evidence.messages.length + 1))
  evidence.projected.push({ ...events.at(-1)! })
}

function messageOf(row: OutboxRowSeen, seq: number): StreamMessage {
  return {
    seq,
    storedMs: seq,
    subject: 's',
    messageId: row.message_id,
    outboxId: row.outbox_id,
    executionId: row.execution_id,
    body: row.payload,
    headers: {},
  }
}

const found = ({ evidence, ledger }: Case): string[] => [
  ...new Set(
    judgeEvidence(evidence, ledger, SUBSCRIPTION).violations.map(({ invariant, kind }) => `${invariant} ${kind}`),
  ),
]
const shardWithEvents = ({ evidence }: Case) => evidence.shards.find(({ events }) => events.length >= 8)!

describe('the judge', () => {
  it('finds nothing in clean evidence', () => {
    const { evidence, ledger } = clean()
    const { violations, tally } = judgeEvidence(evidence, ledger, SUBSCRIPTION)
    expect(violations).toEqual([])
    expect(tally).toMatchObject({ events: 18, acknowledged: 12, outboxRows: 18, delivered: 18, started: 2, sourced: 2 })
  })

  it('does not ask for what was never acknowledged', () => {
    const planted = clean()
    const [execution] = planted.ledger.executions.values()
    execution!.events.push({ eventId: '5', type: 'x', step: 's', mark: 'event-unknown', at: 1, acknowledged: false })
    expect(found(planted)).toEqual([])
  })

  it('knows what the broker itself has lost with its disk', () => {
    const { evidence, ledger } = clean()
    const [message] = evidence.messages.splice(1, 1)
    ledger.restored.messages.add(message!.messageId!)
    evidence.messages.push({ ...message!, seq: 99 })
    ledger.sourced.add(5)
    ledger.restored.sourced.add(5)
    expect(found({ evidence, ledger })).toEqual([])
  })

  it.each<[string, (planted: Case) => void, string[]]>([
    [
      'an acknowledged event that is not in the log',
      ({ ledger }) => {
        const [execution] = ledger.executions.values()
        execution!.events.push({ eventId: '5', type: 'x', step: 's', mark: 'm', at: 1, acknowledged: true })
      },
      ['I1 lost'],
    ],
    [
      'an event with other content',
      (planted) => {
        shardWithEvents(planted).events[1]!.mark = 'event-of-somebody-else'
      },
      ['I1 altered', 'I5 altered'],
    ],
    [
      'an event in the wrong database',
      ({ evidence }) => {
        const [from, to] = evidence.shards as [Evidence['shards'][0], Evidence['shards'][0]]
        to.events.push(...from.events.filter((row) => row.n === null).slice(0, 4))
        to.executions.push(from.executions.find((row) => row.execution_id === from.events[0]!.execution_id)!)
      },
      ['I1 misplaced', 'I1 started twice'],
    ],
    [
      'a refused request that left an event',
      (planted) => {
        const { events } = shardWithEvents(planted)
        const { ledger } = planted
        ledger.refused.add('sneaked-in')
        events.push({ ...events[0]!, event_id: '5', stream_version: '5', mark: 'sneaked-in' })
        const { executions } = shardWithEvents(planted)
        Object.assign(executions.find((row) => row.execution_id === events[0]!.execution_id)!, {
          event_count: '5',
          stream_version: '5',
        })
      },
      ['I1 uninvited'],
    ],
    [
      'a message that is gone',
      ({ evidence }) => {
        evidence.messages.splice(3, 1)
      },
      ['I1 lost'],
    ],
    [
      'a message that nobody committed',
      ({ evidence }) => {
        const [first] = evidence.messages
        evidence.messages.push({ ...first!, messageId: `${first!.executionId}:99`, outboxId: '99', seq: 99 })
      },
      ['I1 uninvited'],
    ],
    [
      'a message without an execution',
      ({ evidence }) => {
        evidence.messages.push({ ...evidence.messages[0]!, messageId: 'none:1', executionId: undefined })
      },
      ['I1 uninvited'],
    ],
    [
      'a message with another body',
      ({ evidence }) => {
        evidence.messages[2]!.body = '{}'
      },
      ['I1 altered'],
    ],
    [
      'two messages of an execution in the wrong order',
      ({ evidence }) => {
        const { messages } = evidence
        ;[messages[1], messages[2]] = [messages[2]!, messages[1]!]
      },
      ['I2 out of order'],
    ],
    [
      'a message that is stored twice',
      ({ evidence }) => {
        evidence.messages.push({ ...evidence.messages[0]!, seq: 99 })
      },
      ['I3 duplicate'],
    ],
    [
      'a row that nobody published',
      (planted) => {
        const row = shardWithEvents(planted).outbox[0]!
        row.status = 'FAILED'
        planted.evidence.messages = planted.evidence.messages.filter((message) => message.messageId !== row.message_id)
      },
      ['I1 lost', 'I1 stuck'],
    ],
    [
      'a row that was published and never settled',
      (planted) => {
        shardWithEvents(planted).outbox[0]!.status = 'PENDING'
      },
      ['I1 stuck'],
    ],
    [
      'a dead row',
      (planted) => {
        shardWithEvents(planted).outbox[0]!.status = 'DEAD'
      },
      ['I1 stuck'],
    ],
    [
      'an event without a number',
      (planted) => {
        shardWithEvents(planted).events[1]!.stream_version = null
      },
      ['I5 stuck'],
    ],
    [
      'a gap in the numbers',
      (planted) => {
        shardWithEvents(planted).events[3]!.stream_version = '9'
      },
      ['I5 misnumbered'],
    ],
    [
      'a number given twice',
      (planted) => {
        shardWithEvents(planted).events[3]!.stream_version = '2'
      },
      ['I5 misnumbered'],
    ],
    [
      'a read model that missed an event',
      (planted) => {
        shardWithEvents(planted).executions[0]!.event_count = '3'
      },
      ['I5 not projected'],
    ],
    [
      'a read model without the execution',
      (planted) => {
        shardWithEvents(planted).executions.pop()
      },
      ['I5 not projected'],
    ],
    [
      'an end that the read model does not know',
      (planted) => {
        shardWithEvents(planted).executions.find(({ status }) => status === 'COMPLETED')!.status = 'RUNNING'
      },
      ['I5 not projected'],
    ],
    [
      'a start that was answered with two ids',
      ({ ledger }) => {
        const [ids] = ledger.starts.values()
        ids!.add('123')
      },
      ['I1 started twice'],
    ],
    [
      'a source message that started nothing',
      ({ ledger }) => {
        ledger.sourced.add(5)
      },
      ['I6 stuck'],
    ],
    [
      'a source message that started two executions',
      ({ evidence, ledger }) => {
        const executionId = ledger.mintId()
        const shard = shardOf(executionId, 2)
        store(evidence, shard, { executionId, eventId: ledger.mintId(), type: 'playbook_started', mark: null, n: 0 })
        evidence.shards[shard]!.executions.push({
          execution_id: executionId,
          status: 'RUNNING',
          event_count: '1',
          stream_version: '1',
        })
      },
      ['I6 started twice'],
    ],
    [
      'a start during a pause',
      ({ ledger }) => {
        ledger.pauses[0]!.startedAtResume = 2
      },
      ['I6 started while paused'],
    ],
    [
      'a message that was given up',
      ({ evidence }) => {
        evidence.deadLetters.push('nats:S:1: reason')
      },
      ['I6 stuck'],
    ],
    [
      'an event that the other installation missed',
      ({ evidence }) => {
        evidence.projected.pop()
      },
      ['I5 not projected'],
    ],
    [
      'an event that the other installation stored differently',
      ({ evidence }) => {
        evidence.projected[1]!.mark = 'event-of-somebody-else'
      },
      ['I5 altered'],
    ],
    [
      'an event that only the other installation has',
      ({ evidence }) => {
        evidence.projected.push({ ...evidence.projected[0]!, event_id: '99' })
      },
      ['I5 uninvited'],
    ],
    [
      'an event that was set aside',
      ({ evidence }) => {
        evidence.quarantined.push('1: reason')
      },
      ['I5 stuck'],
    ],
    [
      'an id that sorts before its cause',
      ({ ledger }) => {
        const [execution] = ledger.executions.values()
        execution!.chain = ['5', '7', '6']
      },
      ['I9 out of order'],
    ],
    [
      'an id that was minted twice',
      ({ ledger }) => {
        const [ids] = ledger.starts.values()
        ledger.starts.set('start-of-another', new Set(ids))
      },
      ['I1 lost', 'I9 minted twice'],
    ],
    [
      'a message that was lost with a disk and never sent again',
      ({ evidence, ledger }) => {
        const [message] = evidence.messages.splice(3, 1)
        ledger.restored.messages.add(message!.messageId!)
      },
      ['I1 lost'],
    ],
  ])('finds %s', (_, plant, expected) => {
    const planted = clean()
    plant(planted)
    expect(found(planted).sort()).toEqual([...expected].sort())
  })
})
