// One claim of an outside publisher in one database: lock lanes, choose rows, put them under a lease, all in one
// transaction. The lock on its lane keeps an execution in order; claims at the same time work on other lanes and do not
// wait for each other.
//
//   lock lanes with something due ──▶ rows due longest ──▶ their executions from the first row on ──▶ plan ──▶ lease
//        ▲ room is left                                                                              │
//        └───────────────────────────────────────────────────────────────────────────────────────────┤
//   due rows behind one that waits used up the page: go from execution to execution instead  ◀───────┘
import type { Db, Tx } from '../../db/db.js'
import { compareIds } from '../../domain/ids/ids.js'
import { type ClaimPlan, createClaimPlan } from '../../domain/outbox/claim.js'
import {
  type ClaimedRow,
  claimRows,
  findDueHeads,
  type LockedLane,
  listDue,
  lockDueLanes,
  readRuns,
  retireLateRelays,
} from '../../stores/outbox/outboxClaimStore.js'

export interface TakeRules {
  leaseSeconds: number
  deadPolicy: 'release' | 'hold'
}

const CLAIM_BYTES_MAX = 64 * 1024 * 1024
// Of 64. Few first, so that claims at the same time all find some; then twice as many per step, so that all are soon seen.
const LANES_FIRST = 4
// Rows looked at per step; more than asked for, because some are behind a row that waits.
const PAGE_MIN = 200
// About 0.1 s. With more executions that are all held up, the next claim begins elsewhere.
const HEAD_VISITS = 10_000
const LOWEST_ID = '-9223372036854775808'

export function takeRows(rules: TakeRules, db: Db, shard: number, limit: number): Promise<ClaimedRow[]> {
  return db.tx(async (tx) => {
    const plan = createClaimPlan({ rows: limit, bytes: CLAIM_BYTES_MAX })
    const lanes = await choose(tx, plan, rules)
    if (plan.chosen().length === 0) return []
    const claimed = await claimRows(tx, plan.chosen(), rules.leaseSeconds, shard)
    if (claimed.length > 0 && lanes.some((held) => held.late)) await retireLateRelays(tx, numbersOf(lanes))
    return claimed.sort((left, right) => compareIds(left.outbox_id, right.outbox_id))
  })
}

/** Answers the lanes it locked. */
async function choose(tx: Tx, plan: ClaimPlan, rules: TakeRules): Promise<LockedLane[]> {
  const holdBehindDead = rules.deadPolicy === 'hold'
  const lanes: LockedLane[] = []
  const crowded: number[] = []
  for (let step = LANES_FIRST; plan.room() > 0; step *= 2) {
    const fresh = await lockDueLanes(tx, Math.min(step, plan.room()), numbersOf(lanes))
    if (fresh.length === 0) break
    lanes.push(...fresh)
    const page = Math.max(PAGE_MIN, plan.room() * 2)
    const due = await listDue(tx, numbersOf(fresh), page)
    const rows = await readRuns(tx, due, holdBehindDead)
    plan.offer(rows)
    if (rows.length >= page) crowded.push(...numbersOf(fresh))
  }
  for (const after of crowded.length === 0 ? [] : [LOWEST_ID, undefined]) {
    const room = plan.room()
    if (room === 0) break
    // Those that were chosen already are found again.
    const limit = room + plan.chosen().length
    const search = { after, lanes: crowded, limit, visits: HEAD_VISITS, holdBehindDead }
    const heads = (await findDueHeads(tx, search)).filter((id) => !plan.wasOffered(id))
    const rows = Math.ceil((2 * room) / Math.max(1, heads.length))
    plan.offer(
      await readRuns(
        tx,
        heads.map((execution_id) => ({ execution_id, outbox_id: null, rows })),
        holdBehindDead,
      ),
    )
  }
  return lanes
}

function numbersOf(lanes: readonly LockedLane[]): number[] {
  return lanes.map((held) => held.lane)
}
