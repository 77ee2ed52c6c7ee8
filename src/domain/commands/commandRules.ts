// What an event of a worker does to the row of its command. The first answer that ends a command counts, answers of
// an earlier attempt or of somebody who does not hold it do not, and nothing is handed out twice while a lease runs.
//
//   PENDING ──claim──▶ CLAIMED ──started──▶ RUNNING ──▶ COMPLETED │ FAILED
//      ▲                  └── lease over ──┘    └──▶ PARKED (waits for a call-back) ──▶ COMPLETED │ FAILED
//      └── by the keeper, attempt + 1 ─────┘       any open one ── its execution ends ──▶ CANCELLED

export type CommandStatus = 'PENDING' | 'CLAIMED' | 'RUNNING' | 'PARKED' | 'COMPLETED' | 'FAILED' | 'CANCELLED'

export interface CommandRow {
  readonly executionId: string
  /** The id of its command.issued. */
  readonly commandId: string
  /** The text by which workers know it. */
  readonly key: string
  readonly status: CommandStatus
  readonly attempt: number
  readonly maxAttempts: number
  readonly workerId: string | undefined
  /** Grows with every claim. */
  readonly leaseToken: number
  readonly leaseSeconds: number
  /** Until its lease ends; below zero when it is over. */
  readonly leaseLeftSeconds: number
  readonly dataAttempt: number
  readonly errorAttempt: number
}

/** An event that names a command. */
export interface CommandReport {
  readonly type: ReportType
  /** 0: the worker did not say. */
  readonly attempt: number
  readonly workerId: string | undefined
  /** A claim: how long it lasts. */
  readonly leaseSeconds: number
  /** The end comes by a call-back. */
  readonly isParking: boolean
  readonly isError: boolean
  /** Written by the engine, which does not need to hold what it ends. */
  readonly isDecided: boolean
}

const REPORT_TYPES = [
  'command.claimed',
  'command.started',
  'command.heartbeat',
  'call.done',
  'call.error',
  'command.completed',
  'command.failed',
] as const

export type ReportType = (typeof REPORT_TYPES)[number]

export function isReportType(canonicalType: string): canonicalType is ReportType {
  return (REPORT_TYPES as readonly string[]).includes(canonicalType)
}

/** Why an answer was not taken. */
export type IgnoredReason = Gone | 'reclaimed' | 'not_holder' | 'repeated' | 'heartbeat'

/** Why a command was not handed out. */
export type ClaimRefusal = Gone | 'active_claim' | 'pool_saturated'

type Gone = 'already_terminal' | 'cancelled' | 'execution_ended'

export type Judgement =
  | { kind: 'taken'; row: CommandRow; reclaimedFrom?: string | undefined }
  /** Not stored; a sign of life changes the row all the same. */
  | { kind: 'ignored'; reason: IgnoredReason; row?: CommandRow }
  /** The worker holds it already. */
  | { kind: 'held'; row: CommandRow }
  | { kind: 'unclaimable'; code: ClaimRefusal; row: CommandRow; retryAfterSeconds: number }

/** How long a claim lasts if the worker does not say. */
export const LEASE_SECONDS = 120
/** A pass of the keeper, which takes back what is lost. */
const KEEPER_SECONDS = 5

export function isFinal(status: CommandStatus): boolean {
  return status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED'
}

/** `endedAs`: how the execution ended, if it has. */
export function judgeReport(row: CommandRow, report: CommandReport, endedAs: string | undefined): Judgement {
  return report.type === 'command.claimed' ? judgeClaim(row, report, endedAs) : judgeAnswer(row, report, endedAs)
}

function judgeClaim(
  row: CommandRow,
  { workerId, leaseSeconds }: CommandReport,
  endedAs: string | undefined,
): Judgement {
  if (isFinal(row.status) || endedAs !== undefined) {
    return { kind: 'unclaimable', code: goneCode(row, endedAs), row, retryAfterSeconds: 0 }
  }
  // Its lease runs from now on: the next event of the same batch is judged by this row.
  const lease = { leaseSeconds, leaseLeftSeconds: leaseSeconds, leaseToken: row.leaseToken + 1 }
  const claimed = { ...row, ...lease, status: 'CLAIMED', workerId } as const
  // The keeper has taken it back from a worker that was lost; the row still names it.
  if (row.status === 'PENDING') return { kind: 'taken', row: claimed, reclaimedFrom: row.workerId }
  if (row.status !== 'PARKED' && row.workerId === workerId) return { kind: 'held', row }
  if (row.status !== 'PARKED' && row.leaseLeftSeconds <= 0 && row.attempt < row.maxAttempts) {
    return { kind: 'taken', row: { ...claimed, attempt: row.attempt + 1 }, reclaimedFrom: row.workerId }
  }
  const retryAfterSeconds = Math.max(KEEPER_SECONDS, Math.ceil(row.leaseLeftSeconds))
  return { kind: 'unclaimable', code: 'active_claim', row, retryAfterSeconds }
}

function goneCode({ status }: CommandRow, endedAs: string | undefined): Gone {
  if (status === 'COMPLETED' || status === 'FAILED') return 'already_terminal'
  return endedAs === undefined || endedAs === 'CANCELLED' ? 'cancelled' : 'execution_ended'
}

function judgeAnswer(row: CommandRow, report: CommandReport, endedAs: string | undefined): Judgement {
  // A decision stands in the log whatever has happened; only the row may have ended before.
  if (report.isDecided && isFinal(row.status) && report.type !== 'call.done') return { kind: 'taken', row }
  const reason = report.isDecided ? undefined : ignoredReason(row, report, endedAs)
  if (reason !== undefined) return { kind: 'ignored', reason }
  const { attempt } = row
  switch (report.type) {
    case 'command.heartbeat':
      // Of what nobody has claimed it tells nothing, and makes it nobody's.
      if (row.status === 'PENDING') return { kind: 'ignored', reason: 'heartbeat' }
      return { kind: 'ignored', reason: 'heartbeat', row: { ...row, workerId: row.workerId ?? report.workerId } }
    case 'command.started':
      if (row.status === 'RUNNING') return { kind: 'ignored', reason: 'repeated', row }
      return { kind: 'taken', row: { ...row, status: 'RUNNING', workerId: report.workerId ?? row.workerId } }
    case 'call.done':
      return { kind: 'taken', row: { ...row, dataAttempt: attempt } }
    case 'call.error':
      return { kind: 'taken', row: { ...row, errorAttempt: attempt } }
    default: {
      const status = endOf(report)
      // Whoever parks it is known from then on, also if it never claimed it.
      const workerId = status === 'PARKED' ? (row.workerId ?? report.workerId) : row.workerId
      return { kind: 'taken', row: { ...row, status, workerId } }
    }
  }
}

function endOf({ type, isParking, isError }: CommandReport): CommandStatus {
  if (type === 'command.failed') return 'FAILED'
  if (isParking) return 'PARKED'
  return isError ? 'FAILED' : 'COMPLETED'
}

function ignoredReason(row: CommandRow, report: CommandReport, endedAs: string | undefined): IgnoredReason | undefined {
  const { status } = row
  if (status === 'CANCELLED' || endedAs !== undefined) return goneCode(row, endedAs)
  if (report.attempt > 0 && report.attempt < row.attempt) return 'reclaimed'
  if (status === 'PARKED') return ignoredWhileParked(row, report)
  if (!isHolder(row, report)) return 'not_holder'
  // The data may arrive after the end: messages overtake each other.
  if (report.type === 'call.done') return row.dataAttempt >= row.attempt ? 'repeated' : undefined
  if (report.type === 'call.error') return row.errorAttempt >= row.attempt ? 'repeated' : undefined
  return isFinal(status) ? 'already_terminal' : undefined
}

/** A call-back comes from whoever was told to call, and is an answer: what its worker still says is over, data included. */
function ignoredWhileParked(row: CommandRow, { type, attempt, workerId }: CommandReport): IgnoredReason | undefined {
  if (attempt > row.attempt) return 'not_holder'
  if (type === 'command.heartbeat') return 'heartbeat'
  const isOfItsWorker = workerId !== undefined && workerId === row.workerId
  return isOfItsWorker || type === 'command.started' ? 'repeated' : undefined
}

/** Who says the attempt has been told it; of the others only the holder is believed, or anybody before the first claim. */
function isHolder({ status, workerId, attempt }: CommandRow, report: CommandReport): boolean {
  if (status === 'PENDING' && workerId !== undefined) return false
  if (report.attempt === attempt) return true
  if (workerId === undefined) return attempt === 1 && report.attempt === 0
  return report.attempt === 0 && report.workerId === workerId
}
