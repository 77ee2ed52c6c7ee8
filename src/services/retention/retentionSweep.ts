// The two sweeps of retention that go row by row, in bounded steps: old executions of the default partition,
// and rows of the read model whose events are gone. The read model of an execution goes before its events do,
// so that a half-deleted history is never shown as a whole one.
import { type IdRange, isWithin } from '../../domain/retention/eventPartition.js'
import {
  type DeletedRows,
  deleteDefaultEvents,
  deleteReadModel,
  eventlessExecutions,
  executionsInDefault,
  type Judged,
  judgeExecutions,
  lockEnded,
  notInReadModel,
  withoutEvents,
} from '../../stores/retention/retentionStore.js'
import type { RetentionPass, RetentionReport } from './retentionPass.js'

const EXECUTIONS_PER_STEP = 200
const EVENTS_PER_STEP = 5_000
const JUDGE_DEADLINE_MS = 120_000

export async function sweepDefault(pass: RetentionPass, report: RetentionReport): Promise<void> {
  for (const range of pass.aged) {
    await walk(
      pass,
      range,
      (rest) => executionsInDefault(pass.db, rest, EXECUTIONS_PER_STEP),
      async (ids) => {
        const forgotten = ids.filter((id) => pass.forgotten.has(id))
        const judged = await judgeExecutions(pass.db, ids, forgotten, pass.cutoff, JUDGE_DEADLINE_MS)
        for (const { reason } of judged) if (reason !== null) report.defaultExecutionsKept[reason] += 1
        const old = judged.filter(({ reason }) => reason === null)
        if (old.length > 0) await forget(pass, report, old)
      },
    )
  }
}

async function forget(pass: RetentionPass, report: RetentionReport, old: readonly Judged[]): Promise<void> {
  if (pass.dryRun) {
    report.executionsDeleted += old.length
    for (const { events } of old) report.defaultEventsDeleted += Number(events)
    return
  }
  const ids = old.map((row) => row.execution_id)
  const deleted = await pass.db.tx(async (tx) => deleteReadModel(tx, await lockEnded(tx, ids, pass.startedAt)))
  add(report, deleted)
  for (;;) {
    // Asked each time: one that is appended to meanwhile has a row again, and is left alone.
    const forgotten = await notInReadModel(pass.db, ids)
    const events = await deleteDefaultEvents(pass.db, forgotten, EVENTS_PER_STEP)
    report.defaultEventsDeleted += events
    if (events < EVENTS_PER_STEP || pass.signal?.aborted) return
  }
}

export async function sweepReadModel(pass: RetentionPass, report: RetentionReport): Promise<void> {
  if (pass.dryRun) return
  for (const range of pass.aged) {
    await walk(
      pass,
      range,
      (rest) => eventlessExecutions(pass.db, rest, pass.cutoff, EXECUTIONS_PER_STEP),
      async (ids) => {
        const deleted = await pass.db.tx(async (tx) => {
          const ended = await lockEnded(tx, ids, pass.startedAt)
          return deleteReadModel(tx, await withoutEvents(tx, ended))
        })
        add(report, deleted)
      },
    )
  }
}

/** Page after page in id order; what a page leaves behind is not met again. */
async function walk(
  pass: RetentionPass,
  range: IdRange,
  page: (rest: IdRange) => Promise<string[]>,
  step: (ids: string[]) => Promise<void>,
): Promise<void> {
  let rest = range
  while (isWithin(rest, range) && rest.from < rest.to && !pass.signal?.aborted) {
    const ids = await page(rest)
    if (ids.length > 0) await step(ids)
    if (ids.length < EXECUTIONS_PER_STEP) return
    rest = { from: BigInt(ids[ids.length - 1]!) + 1n, to: range.to }
  }
}

function add(report: RetentionReport, deleted: DeletedRows): void {
  report.executionsDeleted += deleted.executions
  report.snapshotsDeleted += deleted.snapshots
  report.projectionsDeleted += deleted.projections
  report.dedupRecordsDeleted += deleted.dedupRecords
}
