// What `doctor` says about the partitions of the event table: a month without one, and rows in the default
// partition, which retention can only delete one by one and which keep a partition from being made.
import type { NamedDatabase } from '../../db/databases.js'
import { isCovered, monthPartitions } from '../../domain/retention/eventPartition.js'
import { toCpError } from '../../errors.js'
import { databaseNowMs, firstInDefault, listPartitions } from '../../stores/retention/partitionStore.js'
import type { Finding } from '../health/finding.js'

export async function partitionFindings(database: NamedDatabase): Promise<Finding[]> {
  try {
    return await findingsOf(database)
  } catch (error) {
    // Without a schema there is nothing to look at; that is a finding of its own, made elsewhere.
    if (toCpError(error).code === 'schema_mismatch') return []
    throw error
  }
}

async function findingsOf({ label, db }: NamedDatabase): Promise<Finding[]> {
  const findings: Finding[] = []
  const nowMs = await databaseNowMs(db)
  const ranges = (await listPartitions(db)).flatMap((partition) => partition.range ?? [])
  const missing = monthPartitions(nowMs, 1).filter((month) => !isCovered(month, ranges))
  if (missing.length > 0) {
    findings.push({
      level: 'advice',
      where: label,
      finding: `noetl.event has no partition for ${missing.map((month) => month.name.slice('event_'.length)).join(' and ')}; new events go to event_default`,
      fix: 'run the daemon ("noetl-cp serve"): it makes partitions ahead of time, and its log says what is in the way',
    })
  }
  const first = await firstInDefault(db)
  if (first !== undefined) {
    findings.push({
      level: 'advice',
      where: label,
      finding: `noetl.event_default holds events, for instance of execution ${first}; no partition can be made for their range`,
      fix: 'they stay readable there; "noetl-cp retention" removes old ones row by row',
    })
  }
  return findings
}
