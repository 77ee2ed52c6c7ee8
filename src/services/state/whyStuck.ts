// Names what an execution waits for: the first finding is the most likely reason, each says what to do next. Looks at
// the live state, the outbox, workers, lanes, subscriptions and open transactions; changes nothing.

import type { Databases } from '../../db/databases.js'
import type { Queryable } from '../../db/db.js'
import { counted } from '../../domain/counted.js'
import { ENGINE_VERSION } from '../../domain/engine/settings.js'
import { isTerminalStatus } from '../../domain/executions/executionStatus.js'
import type { ExecutionId } from '../../domain/ids/ids.js'
import { laneOf } from '../../domain/leases/lane.js'
import { listLimits } from '../../stores/commands/commandLimits.js'
import { readFooting } from '../../stores/executions/engineStore.js'
import type { ExecutionRow } from '../../stores/executions/executionStore.js'
import { leaseHolder } from '../../stores/leases/leaseStore.js'
import {
  inactiveSubscription,
  listPools,
  listWaitingRows,
  oldestTransaction,
  readClaimAges,
  readEventAges,
  type WaitingRow,
} from '../../stores/state/stateStuckStore.js'
import { findExecution } from '../executions/executionQueries.js'
import { stateLeaseKind } from './ownership.js'
import type { StateService } from './stateService.js'
import { commandFindings } from './stuckCommands.js'
import type { FindingAction, FindingTarget, StuckFinding } from './stuckFinding.js'

export type { StuckFinding } from './stuckFinding.js'

export interface StuckReport {
  row: ExecutionRow
  version: number
  findings: StuckFinding[]
}

export interface WhyStuckDeps {
  databases: Databases
  state: Pick<StateService, 'ask'>
}

const TRANSACTION_SECONDS_MIN = 5
const OUTBOX_ROWS = 5
const OPEN_SHOWN = 20
/** What makes a subscription that is in this state deliver again. */
const RESUMING: Readonly<Record<string, FindingAction[]>> = {
  PAUSED: ['subscription.resume'],
  REGISTERED: ['subscription.activate'],
}

export async function whyStuck(deps: WhyStuckDeps, executionId: ExecutionId): Promise<StuckReport> {
  const { databases } = deps
  const db = databases.of(executionId)
  const { version, open = [] } = await deps.state.ask(executionId, { open: true })
  const row = await findExecution(deps, executionId)
  if (isTerminalStatus(row.status)) {
    const what = `it is ${row.status}${row.error === null ? '' : `: ${row.error}`}`
    const finding: StuckFinding = {
      reason: 'ended',
      what,
      next: `noetl-cp execution show ${executionId}`,
      target: { kind: 'execution', id: executionId },
      actions: ['execution.rerun'],
    }
    return { row, version, findings: [finding] }
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
    leaseHolder(db, stateLeaseKind(share, row.engine ?? undefined), laneOf(executionId)),
    listPools(databases.cluster.db),
    listLimits(databases.cluster.db),
    inactiveSubscription(databases.cluster.db, executionId, row.parent_execution_id),
  ])
  const findings: StuckFinding[] = []
  if (subscription !== undefined) {
    const until = subscription.paused_until === null ? '' : ` until ${subscription.paused_until}`
    findings.push({
      reason: 'paused subscription',
      what: `subscription ${subscription.subscription_id} (${subscription.path}) is ${subscription.state}${until}${subscription.reason === null ? '' : `: ${subscription.reason}`}`,
      next: `noetl-cp subscription show ${subscription.subscription_id}`,
      target: { kind: 'subscription', id: subscription.subscription_id },
      actions: RESUMING[subscription.state] ?? [],
    })
  }
  findings.push(...outboxFindings(rows))
  findings.push(...commandFindings(row, shown, ages, claims, pools, limits))
  if (owner === undefined) {
    findings.push({
      reason: 'no driver',
      what: `no daemon drives lane ${laneOf(executionId)} of share ${share}`,
      next: 'start "noetl-cp serve", or see "noetl-cp status"',
      target: { kind: 'lane', id: `${share} ${laneOf(executionId)}` },
      actions: [],
    })
  }
  if (transaction !== undefined) {
    findings.push({
      reason: 'open transaction',
      what: `process ${transaction.pid} (${transaction.application_name || transaction.usename || 'unknown'}) has a transaction open that has written: ${transaction.query ?? ''}`,
      seconds: transaction.age_seconds,
      next: `its events are not visible before it ends; if it is forgotten: select pg_terminate_backend(${transaction.pid})`,
      target: { kind: 'backend', id: String(transaction.pid) },
      actions: [],
    })
  }
  const isAlone = findings.length === 0
  const isAdoptable = isAlone && row.engine === null && (await hasNotBegun(db, row))
  findings.push(...engineFindings(row, { isAlone, isAdoptable, version }))
  return { row, version, findings }
}

async function hasNotBegun(db: Queryable, { execution_id: id, start_event_id: start }: ExecutionRow): Promise<boolean> {
  return start !== null && (await readFooting(db, id, start)).begun === null
}

/** What is to be said about the engine itself: that it does not drive the execution, or that nothing is left to say. */
function engineFindings(
  { execution_id: id, engine }: ExecutionRow,
  { isAlone, isAdoptable, version }: { isAlone: boolean; isAdoptable: boolean; version: number },
): StuckFinding[] {
  const target: FindingTarget = { kind: 'execution', id }
  const actions: FindingAction[] = ['execution.cancel']
  if (engine === null) {
    if (!isAlone) return []
    const what =
      'the engine does not drive it: it was started by an earlier version, by somebody else, or with "driven": false'
    const cancel = `its events must come from outside; or noetl-cp execution cancel ${id}`
    if (!isAdoptable) return [{ reason: 'not driven', what, next: cancel, target, actions }]
    const next = `noetl-cp execution adopt ${id} makes the engine drive it; else ${cancel}`
    return [{ reason: 'not driven', what, next, target, actions: ['execution.adopt', ...actions] }]
  }
  if (engine !== ENGINE_VERSION) {
    const what = `it was started for version ${engine} of the engine; this program has version ${ENGINE_VERSION}`
    const next = `run a daemon of that version until it has ended, or noetl-cp execution cancel ${id}`
    return [{ reason: 'not driven', what, next, target, actions }]
  }
  if (!isAlone) return []
  const what = `${version === 1 ? 'its one event is' : `all ${version} events are`} applied and no command is open; the engine decides within moments, or logs why it cannot`
  return [{ reason: 'nothing known', what, next: `noetl-cp events tail ${id}`, target, actions }]
}

function outboxFindings(rows: readonly WaitingRow[]): StuckFinding[] {
  const first = rows[0]
  if (first === undefined) return []
  const dead = rows.find(({ status }) => status === 'DEAD')
  const findings: StuckFinding[] = []
  if (dead !== undefined) {
    findings.push({
      reason: 'dead outbox row',
      what: `outbox row ${dead.outbox_id} (event ${dead.event_id}) is dead after ${counted(dead.attempts, 'attempt')}: ${dead.last_error ?? 'no reason given'}`,
      seconds: dead.age_seconds,
      next: `noetl-cp outbox show ${dead.outbox_id}, then noetl-cp outbox dead redrive`,
      target: { kind: 'outbox', id: dead.outbox_id },
      actions: ['outbox.redrive'],
    })
  }
  const waiting = rows.find(({ status }) => status !== 'DEAD')
  if (waiting === undefined) return findings
  const isBackingOff = waiting.wait_seconds > 0 && waiting.attempts > 0
  findings.push({
    reason: isBackingOff ? 'outbox backoff' : 'outbox',
    what: isBackingOff
      ? `outbox row ${waiting.outbox_id} (event ${waiting.event_id}) is tried again in ${waiting.wait_seconds.toFixed(0)} s, after ${counted(waiting.attempts, 'attempt')}: ${waiting.last_error ?? ''}`
      : `outbox row ${waiting.outbox_id} (event ${waiting.event_id}) is ${waiting.status} and not published`,
    seconds: waiting.age_seconds,
    next: isBackingOff ? `noetl-cp outbox retry ${waiting.outbox_id}` : 'noetl-cp outbox status',
    target: { kind: 'outbox', id: waiting.outbox_id },
    actions: isBackingOff ? ['outbox.retry'] : [],
  })
  return findings
}
