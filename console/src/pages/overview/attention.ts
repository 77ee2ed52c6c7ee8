// What needs somebody: each with the place where it is looked at. An empty list is the good news.
import type { Query } from '../../lib/router'
import { whole } from '../../lib/time'
import { type InstanceOverview, LANES, type ShardOverview } from './instance'

const STUCK_SHOWN = 3

export interface Trouble {
  what: string
  /** Where in the console; undefined: the words say all. */
  place?: string
  asked?: Query
}

export function troublesOf(overview: InstanceOverview): Trouble[] {
  const { checks, shards, pools, schema, subscriptions, errors, stuck, dead_messages: dead } = overview
  const paused = subscriptions['PAUSED'] ?? 0
  const unknown = subscriptions['UNKNOWN'] ?? 0
  return [
    ...checks
      .filter(({ ok, required }) => !ok && required)
      .map(({ name, detail }) => ({
        what: `${name}: ${detail ?? 'does not answer'}`,
        ...(name === 'outbox' ? { place: '/outbox' } : {}),
      })),
    ...shards.flatMap(troublesOfShard),
    ...stuck.slice(0, STUCK_SHOWN).map(({ execution_id: id, what }) => ({
      what: `execution ${id} is stuck: ${what}`,
      place: `/executions/${id}`,
      asked: { tab: 'why' },
    })),
    ...(stuck.length <= STUCK_SHOWN
      ? []
      : [{ what: 'more executions are stuck', place: '/executions', asked: { status: 'RUNNING' } }]),
    ...dead.map(({ subscription_id: id, path, count: messages }) => ({
      what: `${count(messages, 'message', 'messages')} of ${path ?? `subscription ${id}`} given up`,
      place: `/subscriptions/${id}`,
      asked: { tab: 'dead' },
    })),
    // One that ended is listed for a while; work stands still when none is left.
    ...(pools.length > 0 && pools.every(({ alive }) => !alive) ? [{ what: 'no worker pool is alive' }] : []),
    ...schema
      .filter(({ pending }) => pending > 0)
      .map(({ database, pending }) => ({
        what: `${count(pending, 'migration waits', 'migrations wait')} in ${database}: noetl-cp migrate`,
        place: '/doctor',
      })),
    ...(paused === 0
      ? []
      : [
          {
            what: `${count(paused, 'subscription is', 'subscriptions are')} paused`,
            place: '/subscriptions',
            asked: { state: 'PAUSED' },
          },
        ]),
    ...(unknown === 0
      ? []
      : [
          {
            what: `${count(unknown, 'subscription is', 'subscriptions are')} in no known state`,
            place: '/subscriptions',
            asked: { state: 'UNKNOWN' },
          },
        ]),
    ...errors.map((what) => ({ what })),
  ]
}

function troublesOfShard({ shard, error, dead, backlog, owners, relays }: ShardOverview): Trouble[] {
  if (error !== null) return [{ what: `shard ${shard} does not answer: ${error}` }]
  const held = owners.filter(({ live }) => live).reduce((sum, { lanes }) => sum + lanes, 0)
  const expired = backlog?.in_flight_expired ?? 0
  return [
    ...(dead === null || dead === 0
      ? []
      : [
          {
            what: `${count(dead, 'row', 'rows')} of the outbox of shard ${shard} given up`,
            place: '/outbox',
            asked: { tab: 'dead' },
          },
        ]),
    ...(expired === 0
      ? []
      : [
          {
            what: `${count(expired, 'row', 'rows')} of shard ${shard} left in flight by somebody who went away`,
            place: '/outbox',
            asked: { tab: 'rows', status: 'IN_FLIGHT' },
          },
        ]),
    ...(relays.some(({ alive }) => alive) && held < LANES
      ? [{ what: `nobody holds ${count(LANES - held, 'lane', 'lanes')} of shard ${shard}`, place: '/outbox' }]
      : []),
  ]
}

export function count(value: number, one: string, many: string): string {
  return `${whole(value)} ${value === 1 ? one : many}`
}
