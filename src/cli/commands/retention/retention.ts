// Forgets executions that ended long ago, or says what would be forgotten.
import type { JsonObject } from '../../../domain/json/value.js'
import { CpError } from '../../../errors.js'
import { listenForShutdown } from '../../../runtime/shutdown.js'
import { applyRetention } from '../../../services/retention/retention.js'
import type { RetentionReport } from '../../../services/retention/retentionPass.js'
import type { CommandSpec } from '../../command.js'
import { parseDuration } from '../../duration.js'
import { EXIT } from '../../exit.js'
import { isSet, requireYes, textOption } from '../../options.js'
import { type Block, toned } from '../../output.js'

export const retention: CommandSpec = {
  path: ['retention'],
  changes: true,
  doing: 'looking for what is old',
  localBecause: 'what cannot be taken back is done where the database is',
  summary: 'Drop events of executions that ended long ago',
  description:
    'Drops the partitions of the event table that lie before the cutoff and hold nothing that is still needed: no event after the cutoff, no execution that has not ended, no outbox row that waits. Old executions of the default partition are deleted row by row. The read model, snapshots and projections of what goes go with it. What stays although it is old is listed with the reason. There is no way back but a backup.',
  options: [
    { flags: '--older-than <span>', help: 'age of what may go, such as 90d' },
    { flags: '--dry-run', help: 'only say what would go' },
    { flags: '--yes', help: 'really' },
  ],
  examples: [
    ['retention --older-than 90d --dry-run', 'what would go'],
    ['retention --older-than 90d --yes', 'do it'],
  ],
  run: async (context, input) => {
    const span = textOption(input, 'older-than')
    if (span === undefined) throw new CpError('invalid_input', 'say what is old: --older-than 90d')
    const olderThanMs = parseDuration(span, '--older-than')
    const dryRun = isSet(input, 'dry-run')
    if (!dryRun) requireYes(input, `this drops events older than ${span} for good (--dry-run shows which)`)
    const { databases } = await context.deps()
    const shutdown = listenForShutdown(context.io)
    try {
      const reports = await applyRetention(databases, { olderThanMs, dryRun, signal: shutdown.signal })
      const failed = reports.filter((report) => report.error !== undefined)
      return {
        json: { dry_run: dryRun, shards: reports.map(toJson) },
        blocks: [tableOf(reports, dryRun), countsOf(reports, dryRun)],
        notes: [
          ...failed.map((report) => `${report.shard}: ${report.error!.message}`),
          ...(shutdown.signal.aborted ? ['stopped on request; run it again for the rest'] : []),
        ],
        exitCode: failed.length > 0 ? EXIT.unavailable : shutdown.signal.aborted ? EXIT.workRemains : EXIT.ok,
      }
    } finally {
      shutdown.dispose()
    }
  },
}

function tableOf(reports: readonly RetentionReport[], dryRun: boolean): Block {
  return {
    kind: 'table',
    title: 'Partitions',
    columns: ['database', 'partition', 'events', 'executions', dryRun ? 'would be' : 'was', 'because'],
    isProse: true,
    rows: reports.flatMap((report) => [
      ...report.dropped.map(({ name, events, executions }) => [
        report.shard,
        name,
        events,
        executions,
        toned('dropped', 'warn'),
        `everything ended before ${report.cutoff}`,
      ]),
      ...report.kept.map(({ name, detail }) => [report.shard, name, null, null, toned('kept', 'dim'), detail]),
    ]),
    empty: 'none is old enough',
  }
}

function countsOf(reports: readonly RetentionReport[], dryRun: boolean): Block {
  return {
    kind: 'table',
    title: dryRun ? 'Rows that would be deleted' : 'Rows deleted',
    columns: ['database', 'executions', 'events of event_default', 'kept in event_default'],
    rows: reports.map((report) => [
      report.shard,
      report.executionsDeleted,
      report.defaultEventsDeleted,
      Object.entries(report.defaultExecutionsKept)
        .filter(([, count]) => count > 0)
        .map(([reason, count]) => `${count} ${reason}`)
        .join(', '),
    ]),
  }
}

function toJson(report: RetentionReport): JsonObject {
  return {
    shard: report.shard,
    cutoff: report.cutoff,
    dropped: report.dropped.map((partition) => ({ ...partition })),
    kept: report.kept.map((partition) => ({ ...partition })),
    default_events_deleted: report.defaultEventsDeleted,
    subscription_events_kept: report.subscriptionEventsKept,
    default_executions_kept: { ...report.defaultExecutionsKept },
    executions_deleted: report.executionsDeleted,
    snapshots_deleted: report.snapshotsDeleted,
    projections_deleted: report.projectionsDeleted,
    dedup_records_deleted: report.dedupRecordsDeleted,
    error: report.error?.message ?? null,
  }
}
