// POST /api/internal/outbox/audit: is everything that was published really in the stream? A job, since it reads both.
import { parseWireTime } from '../../../domain/events/wireTime.js'
import { isJsonObject } from '../../../domain/json/value.js'
import type { Jobs } from '../../../services/console/jobs.js'
import { type AuditDeps, auditOutbox } from '../../../services/outbox/audit.js'
import { auditReportJson, missingJson } from '../../../services/outbox/auditReport.js'
import type { RouteSpec } from '../../route.js'
import { JOB, jobBegun } from '../console/jobs.js'

export interface AuditRouteDeps {
  jobs: Jobs
  /** Throws when there is no stream to compare with. */
  auditing(): Promise<AuditDeps>
}

const REPUBLISH_MAX = 100_000

export function auditRoutes({ jobs, auditing }: AuditRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/api/internal/outbox/audit',
      summary: 'Compare what was published with what the stream holds; with republish, send missing rows again',
      access: 'operator',
      effect: 'write',
      bodyOptional: true,
      body: {
        type: 'object',
        properties: {
          since: { type: 'string', nullable: true, format: 'date-time', description: 'published since' },
          republish: { type: 'boolean', nullable: true },
          limit: { type: 'integer', nullable: true, minimum: 1, maximum: REPUBLISH_MAX, description: 'of republish' },
          note: { type: 'string', nullable: true, maxLength: 500, description: 'why; kept in the activity' },
        },
      },
      responses: { 202: JOB, 503: 'two jobs are running, or NATS is away' },
      handler: async ({ body, caller }) => {
        const given = isJsonObject(body) ? body : {}
        const since = parseWireTime(given['since'], '/since')
        const { limit, note } = given
        const republish = given['republish'] === true ? (typeof limit === 'number' ? limit : REPUBLISH_MAX) : undefined
        const deps = await auditing()
        const about = { kind: 'outbox.audit', actor: caller.actor, reason: typeof note === 'string' ? note : null }
        const job = jobs.begin(about, async ({ job: own, signal, changed }) => {
          const onProgress = (checked: number): void => {
            own.done = checked
            changed()
          }
          const report = await auditOutbox(deps, { since, shard: undefined, republish, signal, onProgress })
          return { ...auditReportJson(report), since: since ?? null, sample: report.sample.map(missingJson) }
        })
        return jobBegun(job)
      },
    },
  ]
}
