// Finds somebody else who publishes rows of this outbox: the server, the publisher or the playbook of an original that works on
// the same database. Its messages carry no origin of ours, yet they are about events that our outbox has rows of; consumers then
// get events twice or out of order.
import type { Bus } from '../../bus/connect.js'
import { readBodies, readRecentHeaders } from '../../bus/streamReader.js'
import type { Databases } from '../../db/databases.js'
import { parseInt64 } from '../../domain/ids/ids.js'
import { parseJson } from '../../domain/json/parse.js'
import { isJsonObject, type JsonValue } from '../../domain/json/value.js'
import { toCpError } from '../../errors.js'
import type { Clock } from '../../runtime/clock.js'
import { readClusterId } from '../../stores/ids/identityStore.js'
import { type RowOfEvent, rowsOfEvents } from '../../stores/outbox/outboxAdminStore.js'
import type { Finding } from '../health/finding.js'
import { ORIGIN_HEADER } from './relay/message.js'

export interface PublisherDoctorDeps {
  databases: Databases
  bus: Bus | undefined
  clock: Clock
  nats: { stream: { name: string } }
}

const MESSAGES_MAX = 2_000
const MINUTES = 10
/** Enough to be sure, few enough to be read one by one. */
const LOOKED_INTO_MAX = 50

interface Stranger {
  seq: number
  executionId: string
  eventId: string
}

export async function publisherFindings(deps: PublisherDoctorDeps): Promise<Finding[]> {
  const { bus, databases } = deps
  // Without NATS there is nothing to look at, and that is told elsewhere.
  if (bus === undefined || !bus.isConnected()) return []
  const stream = deps.nats.stream.name
  const where = `stream ${stream}`
  try {
    const own = await readClusterId(databases.cluster.db)
    const sinceMs = deps.clock.now() - MINUTES * 60_000
    const recent = await readRecentHeaders(bus.connection(), stream, { sinceMs, most: MESSAGES_MAX })
    const foreign = recent.filter((message) => message.header(ORIGIN_HEADER) === undefined)
    const strangers = await eventsOf(bus, stream, foreign.slice(-LOOKED_INTO_MAX))
    const told = await sentByOthers(databases, strangers)
    return told.length === 0 ? [] : [findingOf(where, told, foreign.length, recent.length, own)]
  } catch (error) {
    const { message } = toCpError(error)
    return [
      {
        level: 'advice',
        where,
        finding: `whether somebody else publishes, too, could not be looked at: ${message}`,
        fix: 'run noetl-cp doctor again when database and NATS answer',
      },
    ]
  }
}

/** Which events they are about, as far as their bodies say. */
async function eventsOf(bus: Bus, stream: string, messages: readonly { seq: number }[]): Promise<Stranger[]> {
  const bodies = await readBodies(
    bus.connection(),
    stream,
    messages.map(({ seq }) => seq),
  )
  return [...bodies].flatMap(([seq, body]) => {
    const event = eventOf(body)
    return event === undefined ? [] : [{ seq, ...event }]
  })
}

function eventOf(body: string): { executionId: string; eventId: string } | undefined {
  try {
    const event = parseJson(body)
    if (!isJsonObject(event)) return undefined
    const id = (value: JsonValue | undefined) => parseInt64(value, 'id')
    return { executionId: id(event['execution_id']), eventId: id(event['event_id']) }
  } catch {
    // Not an envelope: it is about no row of ours.
    return undefined
  }
}

interface Sent extends Stranger {
  row: RowOfEvent
}

/** Those of our own rows. A row that was published through our route was published by somebody who was asked to. */
async function sentByOthers(databases: Databases, strangers: readonly Stranger[]): Promise<Sent[]> {
  if (strangers.length === 0) return []
  const { answers, failures } = await databases.fanOut((db) => rowsOfEvents(db, strangers))
  if (failures[0] !== undefined) throw failures[0].error
  const rows = new Map(answers.flatMap(({ value }) => value).map((row) => [`${row.execution_id}:${row.event_id}`, row]))
  return strangers.flatMap((stranger) => {
    const row = rows.get(`${stranger.executionId}:${stranger.eventId}`)
    const isAsked = row?.lease_owner === 'http'
    return row === undefined || isAsked ? [] : [{ ...stranger, row }]
  })
}

function findingOf(where: string, sent: readonly Sent[], foreign: number, recent: number, own: string): Finding {
  const twice = sent.filter(({ seq, row }) => row.stream_seq !== null && row.stream_seq !== String(seq))
  const example = twice[0] ?? sent[0]!
  const place = `sequence ${example.seq}, event ${example.eventId} of execution ${example.executionId}`
  const again =
    twice.length === 0
      ? `for instance ${place}`
      : `for instance ${place}, which the relay had stored as sequence ${example.row.stream_seq}`
  return {
    level: 'problem',
    where,
    finding: `somebody else publishes rows of this outbox, too: ${foreign} of the last ${recent} messages are not of this installation (${own}), ${again}; consumers get events twice or out of order`,
    fix: 'set NOETL_EVENT_MIRROR_ENABLED=false on the NoETL server beside us and stop its publishers (python -m noetl.outbox, the playbook system/outbox_publisher); set NOETL_CP_PUBLISH_ADOPTED=true here if its events shall still reach the stream',
  }
}
