// GET /api/executions/{id}/why-stuck: what an execution waits for, most likely first, as the command of that name says.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { floatValue } from '../../../domain/json/value.js'
import type { AnalysisDeps } from '../../../services/executions/analysis.js'
import { whyStuck } from '../../../services/state/whyStuck.js'
import type { RouteSpec } from '../../route.js'
import { answerOf, COUNT, TEXT } from '../../schema.js'

export interface WhyStuckRouteDeps {
  analysis: Pick<AnalysisDeps, 'stuck'>
}

export function whyStuckRoutes({ analysis }: WhyStuckRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/executions/:execution_id/why-stuck',
      summary: 'What an execution waits for, what it is about and what can be done',
      access: 'public',
      effect: 'read',
      responses: {
        200: answerOf({
          execution_id: TEXT,
          status: TEXT,
          version: COUNT,
          findings: {
            type: 'array',
            description: 'the most likely reason first',
            items: answerOf({
              reason: TEXT,
              what: TEXT,
              seconds: { type: 'number', nullable: true, description: 'for how long already' },
              next: TEXT,
              target: answerOf({ kind: TEXT, id: TEXT, step: { ...TEXT, description: 'of a command' } }),
              actions: { type: 'array', items: TEXT },
            }),
          },
        }),
        404: 'unknown execution',
        503: 'the database is away',
      },
      handler: async ({ params }) => {
        const id = parseExecutionId(params['execution_id'], 'execution_id')
        const { row, version, findings } = await whyStuck(analysis.stuck, id)
        return {
          body: {
            execution_id: id,
            status: row.status,
            version,
            findings: findings.map(({ reason, what, seconds, next, target, actions }) => ({
              reason,
              what,
              seconds: seconds === undefined ? null : floatValue(seconds),
              next,
              target: { ...target },
              actions,
            })),
          },
        }
      },
    },
  ]
}
