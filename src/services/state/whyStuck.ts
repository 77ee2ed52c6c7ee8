// Names what an execution waits for: the first finding is the most likely reason, each says what to do next. Looks at
// the live state, the outbox, workers, lanes, subscriptions and open transactions; changes nothing.

import type { Databases } from '../../db/databases.js'
import { ENGINE_VERSION } from '../../domain/engine/settings.js'
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { laneOf } from '../../domain/leases/lane.js'
import type { OpenWork } from '../../domain/state/openWork.js'
import { type CommandLimit, listLimits } from '../../stores/commands/commandLimits.js'
import type { ExecutionRow } from '../../stores/executions/executionStore.js'
import { leaseHolder } from '../../stores/leases/leaseStore.js'
import {
  type ClaimAge,
  type EventAge,
  inactiveSubscription,
  listPools,
  listWaitingRows,
  oldestTransaction,
  type PoolAge,
  readClaimAges,
  readEventAges,
  type WaitingRow,
} from '../../stores/state/stateStuckStore.js'
import { findExecution } from '../executions/executionQueries.js'
import { stateLeaseKind } from './ownership.js'
import type { StateService } from './stateService.js'

export type Reason =
  | 'ended'
  | 'paused subscription'
  | 'no driver'
  | 'dead outbox row'
  | 'outbox backoff'
  | 'outbox'
  | 'parked callback'
  | 'unclaimed command'
  | 'expired command'
  | 'running command'
  | 'missing worker pool'
  | 'paused pool'
  | 'failed step'
  | 'child playbook'
  | 'waiting step'
  | 'not driven'
  | 'entered step'
  | 'open transaction'
  | 'nothing known'

export interface Finding {
  reason: Reason
  what: string
  seconds?: number
  next: string
}

export interface StuckReport {
  row: ExecutionRow
  version: number
  findings: Finding[]
}

export interface WhyStuckDeps {
  databases: Databases
  state: Pick<StateService, 'ask'>
}

const POOL_SECONDS_MAX = 60
const TRANSACTION_SECONDS_MIN = 5
const OUTBOX_ROWS = 5
const OPEN_SHOWN = 20

export async function whyStuck(deps: WhyStuckDeps, executionId: ExecutionId): Promise<StuckReport> {
  const { databases } = deps
  const db = databases.of(executionId)
  const { version, open = [] } = await deps.state.ask(executionId, { open: true })
  const row = await findExecution(deps, executionId)
  if (isTerminalStatus(row.status)) {
    const what = `it is ${row.status}${row.error === null ? '' : `: ${row.error}`}`
    return { row, version, findings: [{ reason: 'ended', what, next: `noetl-cp execution show ${executionId}` }] }
  }
  const { topology } = databases
  const share = `${topology.shardIndex}/${topology.shardCount}`
  const shown = open.slice(0, OPEN_SHOWN)
  const eventIds = shown.flatMap(({ eventId }) => eventId ?? [])
  const commandIds = shown.flatMap(({ kind, commandId }) =>
    (kind === 'claimed' || kind === 'started') && commandId !== undefined ? [commandId] : [],
  )
  const [ages, claims, rows, transaction, owner, pools, limits, subscription] = await Promise.all([
    eventIds.length === 0 ? [] : readEventAges(db, executionId, eventIds),
    commandIds.length === 0 ? [] : readClaimAges(db, executionId, commandIds),
    listWaitingRows(db, executionId, OUTBOX_ROWS),
    oldestTransaction(db, TRANSACTION_SECONDS_MIN),
    leaseHolder(db, stateLeaseKind(share), laneOf(executionId)),
    listPools(databases.cluster.db),
    listLimits(databases.cluster.db),
    inactiveSubscription(databases.cluster.db, executionId, row.parent_execution_id),
  ])
  const findings: Finding[] = []
  if (subscription !== undefined) {
    const until = subscription.paused_until === null ? '' : ` until ${subscription.paused_until}`
    findings.push({
      reason: 'paused subscription',
      what: `subscription ${subscription.subscription_id} (${subscription.path}) is ${subscription.state}${until}${subscription.reason === null ? '' : `: ${subscription.reason}`}`,
      next: `noetl-cp subscription show ${subscription.subscription_id}`,
    })
  }
  findings.push(...outboxFindings(rows))
  findings.push(...commandFindings(row, shown, ages, claims, pools, limits))
  if (owner === undefined) {
    findings.push({
      reason: 'no driver',
      what: `no daemon drives lane ${laneOf(executionId)} of share ${share}`,
      next: 'start "noetl-cp serve", or see "noetl-cp status"',
    })
  }
  if (transaction !== undefined) {
    findings.push({
      reason: 'open transaction',
      what: `process ${transaction.pid} (${transaction.application_name || transaction.usename || 'unknown'}) has a transaction open that has written: ${transaction.query ?? ''}`,
      seconds: transaction.age_seconds,
      next: `its events are not visible before it ends; if it is forgotten: select pg_terminate_backend(${transaction.pid})`,
    })
  }
  findings.push(...engineFindings(row, findings.length === 0, version))
  return { row, version, findings }
}

/** What is to be said about the engine itself: that it does not drive the execution, or that nothing is left to say. */
function engineFindings({ execution_id: id, engine }: ExecutionRow, isAlone: boolean, version: number): Finding[] {
  if (engine === null) {
    if (!isAlone) return []
    const what =
      'the engine does not drive it: it was started by an earlier version, by somebody else, or with "driven": false'
    return [
      { reason: 'not driven', what, next: `its events must come from outside; or noetl-cp execution cancel ${id}` },
    ]
  }
  if (engine !== ENGINE_VERSION) {
    const what = `it was started for version ${engine} of the engine; this program has version ${ENGINE_VERSION}`
    return [
      {
        reason: 'not driven',
        what,
        next: `run a daemon of that version until it has ended, or noetl-cp execution cancel ${id}`,
      },
    ]
  }
  if (!isAlone) return []
  const what = `all ${version} events are applied and no command is open; the engine decides within moments, or logs why it cannot`
  return [{ reason: 'nothing known', what, next: `noetl-cp events tail ${id}` }]
}

function outboxFindings(rows: readonly WaitingRow[]): Finding[] {
  const first = rows[0]
  if (first === undefined) return []
  const dead = rows.find(({ status }) => status === 'DEAD')
  const findings: Finding[] = []
  if (dead !== undefined) {
    findings.push({
      reason: 'dead outbox row',
      what: `outbox row ${dead.outbox_id} (event ${dead.event_id}) is dead after ${dead.attempts} attempts: ${dead.last_error ?? 'no reason given'}`,
      seconds: dead.age_seconds,
      next: `noetl-cp outbox show ${dead.outbox_id}, then noetl-cp outbox dead redrive`,
    })
  }
  const waiting = rows.find(({ status }) => status !== 'DEAD')
  if (waiting === undefined) return findings
  const isBackingOff = waiting.wait_seconds > 0 && waiting.attempts > 0
  findings.push({
    reason: isBackingOff ? 'outbox backoff' : 'outbox',
    what: isBackingOff
      ? `outbox row ${waiting.outbox_id} (event ${waiting.event_id}) is tried again in ${waiting.wait_seconds.toFixed(0)} s, after ${waiting.attempts} attempts: ${waiting.last_error ?? ''}`
      : `outbox row ${waiting.outbox_id} (event ${waiting.event_id}) is ${waiting.status} and not published`,
    seconds: waiting.age_seconds,
    next: isBackingOff ? `noetl-cp outbox retry ${waiting.outbox_id}` : 'noetl-cp outbox status',
  })
  return findings
}

function commandFindings(
  row: ExecutionRow,
  open: readonly OpenWork[],
  ages: readonly EventAge[],
  claims: readonly ClaimAge[],
  pools: readonly PoolAge[],
  limits: readonly CommandLimit[],
): Finding[] {
  const ageOf = new Map(ages.map((row) => [row.event_id, row]))
  const claimOf = new Map(claims.map((row) => [row.command_id, row]))
  const alive = pools.filter(({ age_seconds, status }) => age_seconds < POOL_SECONDS_MAX && status !== 'offline')
  const findings: Finding[] = []
  for (const item of open) {
    const age = item.eventId === undefined ? undefined : ageOf.get(item.eventId)
    const finding = withDeadline(item, findingOf(row, item, claimOf.get(item.commandId ?? ''), alive))
    findings.push(age === undefined ? finding : { ...finding, seconds: age.age_seconds })
  }
  // Who would have to claim them comes before what is to be claimed.
  const wanted = [...new Set(ages.flatMap(({ pool }) => pool ?? []))]
  const missing = wanted.filter((wantedPool) => !alive.some(({ pool }) => pool === wantedPool))
  if (open.some(({ kind }) => kind === 'unclaimed') && (alive.length === 0 || missing.length > 0)) {
    const last = pools[0]
    const heard =
      last === undefined ? 'none has ever registered' : `${last.name} last reported ${span(last.age_seconds)} ago`
    const which = missing.length > 0 ? `no worker pool named ${missing.join(', ')} is alive` : 'no worker pool is alive'
    findings.unshift({ reason: 'missing worker pool', what: `${which}; ${heard}`, next: 'start a worker of that pool' })
  }
  if (open.some(({ kind }) => kind === 'unclaimed')) findings.unshift(...pauseFindings(wanted, limits))
  return findings
}

function pauseFindings(wanted: readonly string[], limits: readonly CommandLimit[]): Finding[] {
  return limits
    .filter(({ scope, name, paused_at: at }) => scope === 'pool' && at !== null && wanted.includes(name))
    .map(({ name, paused_at: at, reason }) => ({
      reason: 'paused pool',
      what: `pool ${name} is paused since ${at}${reason === null ? '' : `: ${reason}`}`,
      next: `noetl-cp worker resume ${name}`,
    }))
}

/** The engine ends what takes too long by itself. */
function withDeadline({ deadline }: OpenWork, finding: Finding): Finding {
  return deadline === undefined
    ? finding
    : { ...finding, what: `${finding.what}; the engine gives it up at ${deadline}` }
}

function findingOf(
  { execution_id: executionId, engine }: ExecutionRow,
  item: OpenWork,
  claim: ClaimAge | undefined,
  alive: readonly PoolAge[],
): Finding {
  const { step, commandId } = item
  switch (item.kind) {
    case 'failed':
      return {
        reason: 'failed step',
        what: `step ${step} failed${item.error === undefined ? '' : `: ${item.error}`}`,
        next:
          engine === null
            ? `noetl-cp execution finalize ${executionId}`
            : 'the engine ends the execution when everything under way has ended',
      }
    case 'parked':
      return {
        reason: 'parked callback',
        what: `step ${step} waits for the callback of command ${commandId}`,
        next: 'its call.done event ends the step',
      }
    case 'entered':
      return {
        reason: 'entered step',
        what: `step ${step} was entered and has no command`,
        next: engine === null ? 'its orchestrator issues it' : 'the engine issues it',
      }
    case 'child':
      return {
        reason: 'child playbook',
        what: `step ${step} waits for execution ${item.child}, which it has started`,
        next: `noetl-cp state why-stuck ${item.child}`,
      }
    case 'waiting':
      return {
        reason: 'waiting step',
        what: waitingText(item),
        next: 'look at what these steps wait for',
      }
    case 'unclaimed':
      return {
        reason: 'unclaimed command',
        what: `command ${commandId} of step ${step} is issued, no worker has claimed it`,
        next: 'look at the workers of its pool',
      }
    default: {
      const worker = claim?.worker_id ?? 'a worker'
      const isAlive = alive.some(({ name }) => worker === name || worker.startsWith(`${name}-`))
      const verb = item.kind === 'started' ? 'runs' : 'claimed'
      return isAlive
        ? { reason: 'running command', what: `${worker} ${verb} command ${commandId} of step ${step}`, next: 'wait' }
        : {
            reason: 'expired command',
            what: `${worker} ${verb} command ${commandId} of step ${step}; no worker pool of that name has reported in the last ${POOL_SECONDS_MAX} s`,
            next:
              engine === null
                ? `if it is gone: append its command.failed event, or noetl-cp execution cancel ${executionId}`
                : `when its lease is over another worker gets it; at once with noetl-cp command requeue ${item.eventId ?? ''}`,
          }
    }
  }
}

function waitingText({ step, blockers = [] }: OpenWork): string {
  if (blockers.length === 0) return `step ${step} was reached and is entered next`
  const others = blockers.map((name) => `step ${name}`).join(', ')
  return `step ${step} was reached and waits for ${others}, which can still lead to it`
}

export function span(seconds: number): string {
  if (seconds < 120) return `${Math.max(0, seconds).toFixed(0)} s`
  if (seconds < 7_200) return `${(seconds / 60).toFixed(0)} m`
  return seconds < 172_800 ? `${(seconds / 3_600).toFixed(0)} h` : `${(seconds / 86_400).toFixed(0)} d`
}
