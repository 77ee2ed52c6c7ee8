// Checks many executions, a few at a time: the nightly answer to "does everything still agree". One that
// cannot be checked is reported beside the others and never stops them.
import { type CpError, toCpError } from '../../errors.js'
import { listLogs } from '../../stores/replay/replayStore.js'
import { type ReplayDeps, type RunOptions, type VerifyOutput, verifyExecution, wholeLog } from './replay.js'

export interface ManyOptions extends RunOptions {
  /** Heard of since then. */
  since: string | null
  /** At most so many executions. */
  limit: number
  parallel: number
  onChecked?(checked: Checked, count: number): void
}

export interface Checked {
  executionId: string
  output: VerifyOutput | null
  error: CpError | null
}

export interface ManyReport {
  checked: number
  events: bigint
  agreed: number
  /** Those that differ or could not be checked; at most so many are kept. */
  troubled: Checked[]
  different: number
  failed: number
  /** The limit was reached before the end, or it was stopped. */
  more: boolean
  /** Whose executions could not be listed. */
  away: { shard: number; error: CpError }[]
}

const PAGE = 500
const TROUBLED_MAX = 1_000
const BEFORE_ALL = '-9223372036854775808'

export async function verifyMany(deps: ReplayDeps, options: ManyOptions): Promise<ManyReport> {
  const report: ManyReport = {
    checked: 0,
    events: 0n,
    agreed: 0,
    troubled: [],
    different: 0,
    failed: 0,
    more: false,
    away: [],
  }
  let begun = 0
  const isStopped = (): boolean => options.signal?.aborted === true
  const logs = allLogs(deps, options, report)
  const lane = async (): Promise<void> => {
    for (;;) {
      const { value: log, done } = await logs.next()
      if (done === true) return
      if (begun >= options.limit || isStopped()) {
        report.more = true
        return
      }
      begun++
      const checked = await checkOne(deps, log, options)
      // What was broken off is neither right nor wrong.
      if (checked.error !== null && isStopped()) continue
      report.checked++
      note(report, checked, options)
    }
  }
  await Promise.all(Array.from({ length: options.parallel }, lane))
  return report
}

interface Log {
  executionId: string
  tenantId: string
  organizationId: string
}

async function checkOne(deps: ReplayDeps, log: Log, options: ManyOptions): Promise<Checked> {
  const { executionId } = log
  try {
    const request = { profile: 'cp' as const, query: wholeLog(log, executionId) }
    const output = await verifyExecution(deps, request, options.signal === undefined ? {} : { signal: options.signal })
    return { executionId, output, error: null }
  } catch (error) {
    return { executionId, output: null, error: toCpError(error) }
  }
}

function note(report: ManyReport, checked: Checked, options: ManyOptions): void {
  if (checked.output !== null) report.events += BigInt(checked.output.eventCount)
  const isDifferent = checked.output?.checks.some((check) => !check.ok) ?? false
  if (checked.error !== null) report.failed++
  else if (isDifferent) report.different++
  else report.agreed++
  if ((checked.error !== null || isDifferent) && report.troubled.length < TROUBLED_MAX) report.troubled.push(checked)
  options.onChecked?.(checked, report.checked)
}

async function* allLogs(
  { databases }: ReplayDeps,
  options: ManyOptions,
  { away }: ManyReport,
): AsyncGenerator<Log, undefined> {
  for (const [shard, { db }] of databases.shards.entries()) {
    for (let after = BEFORE_ALL; ; ) {
      const rows = await listLogs(db, after, PAGE, options.since).catch((error: unknown) => {
        away.push({ shard, error: toCpError(error) })
        return []
      })
      for (const row of rows) {
        const { execution_id: executionId, tenant_id: tenantId, organization_id: organizationId } = row
        yield { executionId, tenantId, organizationId }
      }
      if (rows.length < PAGE) break
      after = rows[rows.length - 1]!.execution_id
    }
  }
  return undefined
}
