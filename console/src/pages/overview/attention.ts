// What needs somebody: each with the place where it is looked at. An empty list is the good news.

import { counted } from '../../lib/counted'
import type { Query } from '../../lib/router'
import { type InstanceOverview, LANES, type ShardOverview } from './instance'

/** Ids of executions that are stuck for the same reason. */
const IDS_SHOWN = 4
/** As many as the daemon tells of. */
const STUCK_MAX = 20
const PROBLEMS_SHOWN = 5

export interface Trouble {
  what: string
  /** Where in the console; undefined: the words say all. */
  place?: string
  asked?: Query
  /** Executions that it is about, each a link to why it stands still. */
  executions?: readonly string[]
}

/** What the doctor says, for operators. */
export interface Problem {
  level: string
  where: string
  finding: string
}

export function troublesOf(overview: InstanceOverview): Trouble[] {
  const { checks, shards, pools, schema, subscriptions, errors, stuck, dead_messages: dead } = overview
  const unknown = subscriptions['UNKNOWN'] ?? 0
  return [
    ...checks
      .filter(({ ok, required }) => !ok && required)
      .map(({ name, detail }) => ({
        what: `${name}: ${detail ?? 'does not answer'}`,
        ...(name === 'outbox' ? { place: '/outbox' } : {}),
      })),
    ...shards.flatMap(troublesOfShard),
    ...troublesOfStuck(stuck),
    ...dead.map(({ subscription_id: id, path, count: messages }) => ({
      what: `${counted(messages, 'message')} of ${path ?? `subscription ${id}`} given up`,
      place: `/subscriptions/${id}`,
      asked: { tab: 'dead' },
    })),
    // One that ended is listed for a while; work stands still when none is left.
    ...(pools.length > 0 && pools.every(({ alive }) => !alive) ? [{ what: 'no worker pool is alive' }] : []),
    ...schema
      .filter(({ pending }) => pending > 0)
      .map(({ database, pending }) => ({
        what: `${counted(pending, 'migration waits', 'migrations wait')} in ${database}: noetl-cp migrate`,
        place: '/doctor',
      })),
    ...overview.paused_backlogs.map(({ subscription_id: id, path, messages }) => ({
      what: `${counted(messages, 'message waits', 'messages wait')} behind the pause of ${path}`,
      place: `/subscriptions/${id}`,
    })),
    ...(unknown === 0
      ? []
      : [
          {
            what: `${counted(unknown, 'subscription is', 'subscriptions are')} in no known state`,
            place: '/subscriptions',
            asked: { state: 'UNKNOWN' },
          },
        ]),
    ...errors.map((what) => ({ what })),
  ]
}

/** One line for all that stand still for the same reason. */
function troublesOfStuck(stuck: InstanceOverview['stuck']): Trouble[] {
  const byReason = new Map<string, string[]>()
  for (const { execution_id: id, what } of stuck) byReason.set(what, [...(byReason.get(what) ?? []), id])
  return Array.from(byReason, ([what, ids]): Trouble => {
    const [first] = ids as [string]
    if (ids.length === 1) {
      return { what: `execution ${first} is stuck: ${what}`, place: `/executions/${first}`, asked: { tab: 'why' } }
    }
    return {
      what: `${stuck.length < STUCK_MAX ? '' : 'at least '}${ids.length} executions are stuck: ${what}`,
      place: '/executions',
      asked: { status: 'RUNNING' },
      executions: ids.slice(0, IDS_SHOWN),
    }
  })
}

export function troublesOfDoctor(findings: readonly Problem[], refusal: Error | undefined): Trouble[] {
  const problems = findings.filter(({ level }) => level === 'problem')
  const left = problems.length - PROBLEMS_SHOWN
  return [
    ...problems
      .slice(0, PROBLEMS_SHOWN)
      .map(({ where, finding }) => ({ what: `${where}: ${finding}`, place: '/doctor' })),
    ...(left > 0 ? [{ what: `${counted(left, 'more problem')} that the doctor found`, place: '/doctor' }] : []),
    ...(refusal === undefined ? [] : [{ what: `the doctor could not look: ${refusal.message}`, place: '/doctor' }]),
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
            what: `${counted(dead, 'row')} of the outbox of shard ${shard} given up`,
            place: '/outbox',
            asked: { tab: 'dead' },
          },
        ]),
    ...(expired === 0
      ? []
      : [
          {
            what: `${counted(expired, 'row')} of shard ${shard} left in flight by somebody who went away`,
            place: '/outbox',
            asked: { tab: 'rows', status: 'IN_FLIGHT' },
          },
        ]),
    ...(relays.some(({ alive }) => alive) && held < LANES
      ? [{ what: `nobody holds ${counted(LANES - held, 'lane')} of shard ${shard}`, place: '/outbox' }]
      : []),
  ]
}
