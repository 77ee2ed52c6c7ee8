// Compares what Postgres says was published with what the stream really holds, and closes the gap on request.
import { auditDeps } from '../../../daemon/audit.js'
import { listenForShutdown } from '../../../runtime/shutdown.js'
import {
  type AuditDeps,
  type AuditReport,
  type AuditRequest,
  auditOutbox,
  type MissingRow,
  untilRepublished,
} from '../../../services/outbox/audit.js'
import { auditReportJson } from '../../../services/outbox/auditReport.js'
import type { CommandSpec } from '../../command.js'
import { parseInstant } from '../../duration.js'
import { EXIT } from '../../exit.js'
import { integerOption, isSet, textOption } from '../../options.js'
import { type Block, toned } from '../../output.js'
import { createProgress } from '../../progress.js'

const WAIT_SECONDS_DEFAULT = 180
const REPUBLISH_DEFAULT = 100_000

export const outboxAudit: CommandSpec = {
  path: ['outbox', 'audit'],
  changes: (input) => isSet(input, 'republish'),
  localBecause: 'it compares database and stream itself, with its own connection to NATS',
  summary: 'Is everything that was published really in the stream?',
  description:
    'Reads the published rows that are still kept and the message ids of the stream at their sequences. Messages that the limits of the stream have removed do not count as lost. --republish sends missing rows back to be published by a running relay (a daemon, or "outbox drain"), waits for that and looks again. Exit code 5 when a gap is found, 0 when there is none or it was closed.',
  options: [
    { flags: '--since <time>', help: 'only rows published since: a time, or a span such as 2h' },
    { flags: '--shard <i>', help: 'only this database' },
    { flags: '--republish', help: 'publish the missing ones again' },
    { flags: '--limit <n>', help: `republish at most so many; default ${REPUBLISH_DEFAULT}` },
    { flags: '--max-seconds <n>', help: `how long to wait for that; default ${WAIT_SECONDS_DEFAULT}` },
  ],
  examples: [
    ['outbox audit', 'everything that is kept'],
    ['outbox audit --since 2h', 'after a power cut'],
    ['outbox audit --republish', 'close the gap'],
  ],
  run: async (context, input) => {
    const deps = await context.deps()
    const audit = await auditDeps(deps)
    const since = textOption(input, 'since')
    const shutdown = listenForShutdown(context.io)
    const progress = createProgress(context, 'rows compared')
    const request: AuditRequest = {
      since: since === undefined ? undefined : parseInstant(since, '--since', deps.clock.now()),
      shard: integerOption(input, 'shard', { min: 0, max: deps.databases.shards.length - 1 }),
      republish: isSet(input, 'republish')
        ? (integerOption(input, 'limit', { min: 1, max: 10_000_000 }) ?? REPUBLISH_DEFAULT)
        : undefined,
      signal: shutdown.signal,
      onProgress: (checked) => progress.report(checked),
    }
    const maxMs = (integerOption(input, 'max-seconds', { min: 0, max: 86_400 }) ?? WAIT_SECONDS_DEFAULT) * 1000
    try {
      const report = await auditOutbox(audit, request)
      const again = await recheck(audit, request, report, maxMs)
      progress.end()
      const isClean = report.missing === 0 || (again !== undefined && isClosed(report, again))
      return {
        json: {
          stream: audit.stream,
          ...auditReportJson(report),
          recheck: again === undefined ? null : { published_again: again.closed, ...auditReportJson(again.report) },
        },
        blocks: [
          reportBlock('Audit', audit.stream, report),
          ...(report.sample.length > 0 ? [missingBlock(report)] : []),
          ...(again === undefined ? [] : [reportBlock('After publishing again', audit.stream, again.report)]),
        ],
        notes: notesOn(report, again),
        exitCode: !report.complete ? EXIT.workRemains : isClean ? EXIT.ok : EXIT.difference,
      }
    } finally {
      progress.end()
      shutdown.dispose()
    }
  },
}

async function recheck(
  deps: AuditDeps,
  request: AuditRequest,
  report: AuditReport,
  maxMs: number,
): Promise<Recheck | undefined> {
  if (report.republished.length === 0) return undefined
  const closed = await untilRepublished(deps, report.republished, { maxMs, signal: request.signal })
  return { closed, report: await auditOutbox(deps, { ...request, republish: undefined }) }
}

interface Recheck {
  closed: boolean
  report: AuditReport
}

/** Published again is not enough: every row must also be found where it was put. */
function isClosed(before: AuditReport, { closed, report }: Recheck): boolean {
  return closed && report.missing === 0 && report.unverified <= before.unverified
}

function notesOn(report: AuditReport, again: Recheck | undefined): string[] {
  const notes: string[] = []
  if (!report.complete) notes.push('stopped on request; the rest was not compared')
  if (!report.streamExists) notes.push('the stream does not exist')
  if (report.missing > 0 && again === undefined) notes.push('close the gap with: noetl-cp outbox audit --republish')
  if (again?.closed === true && !isClosed(report, again))
    notes.push('published again, but not all of it is found in the stream; look again, or see the log of the relay')
  if (again?.closed === false)
    notes.push('not everything is published again yet; is a relay running? ("noetl-cp outbox drain", or a daemon)')
  return notes
}

function reportBlock(title: string, stream: string, report: AuditReport): Block {
  return {
    kind: 'record',
    title,
    entries: [
      ['stream', stream],
      ['rows compared', report.checked],
      ['missing', report.missing > 0 ? toned(String(report.missing), 'bad') : toned('0', 'good')],
      ['aged out', report.agedOut],
      ['not comparable', report.unverified],
      ...(report.firstMissing === undefined ? [] : [['first missing', placeOf(report.firstMissing)] as const]),
      ...(report.lastMissing === undefined ? [] : [['last missing', placeOf(report.lastMissing)] as const]),
      ...(report.republished.length === 0 ? [] : [['sent back', report.republished.length] as const]),
    ],
  }
}

function placeOf(row: MissingRow): string {
  return `row ${row.outboxId} of shard ${row.shard}, sequence ${row.seq}, published ${row.publishedAt}`
}

function missingBlock(report: AuditReport): Block {
  return {
    kind: 'table',
    title: `Missing${report.missing > report.sample.length ? ` (the first ${report.sample.length})` : ''}`,
    columns: ['shard', 'id', 'execution', 'event', 'sequence', 'published'],
    spare: ['published', 'sequence', 'shard'],
    rows: report.sample.map((row) => [row.shard, row.outboxId, row.executionId, row.eventId, row.seq, row.publishedAt]),
  }
}
