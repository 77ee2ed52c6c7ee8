// The installation in numbers, for dashboards: executions, connections, tables.
import { floatValue } from '../../../domain/json/value.js'
import { type OverviewDeps, overviewOf, poolOf, tablesOf } from '../../../services/health/overview.js'
import type { RouteSpec } from '../../route.js'
import type { Schema } from '../../schema.js'

export interface OverviewRouteDeps {
  overview: OverviewDeps
}

const count: Schema = { type: 'integer' }
const names: Schema = { type: 'array', items: { type: 'string' } }
const BUSY = 0.8

export function overviewRoutes({ overview }: OverviewRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/dashboard/stats',
      summary: 'How many executions of each status, playbooks and workers there are',
      access: 'public',
      effect: 'read',
      responses: {
        200: {
          type: 'object',
          properties: {
            status: { type: 'string' },
            total_executions: count,
            running_executions: count,
            completed_executions: count,
            successful_executions: count,
            failed_executions: count,
            cancelled_executions: count,
            total_playbooks: count,
            total_subscriptions: count,
            active_workers: count,
            estimated: names,
          },
        },
        503: 'a database is away',
      },
      handler: async () => {
        const { executions, estimated, entries, workersAlive } = await overviewOf(overview.databases)
        const of = (status: string): number => executions.get(status) ?? 0
        const total = [...executions.values()].reduce((sum, one) => sum + one, 0)
        return {
          body: {
            status: 'ok',
            total_executions: total,
            running_executions: total - of('COMPLETED') - of('FAILED') - of('CANCELLED'),
            completed_executions: of('COMPLETED'),
            successful_executions: of('COMPLETED'),
            failed_executions: of('FAILED'),
            cancelled_executions: of('CANCELLED'),
            total_playbooks: entries.get('playbook') ?? 0,
            total_subscriptions: entries.get('subscription') ?? 0,
            active_workers: workersAlive,
            estimated,
          },
        }
      },
    },
    {
      method: 'GET',
      path: '/api/pool/status',
      summary: 'Connections to the databases: how many are in use, and who waits for one',
      access: 'public',
      effect: 'read',
      responses: {
        200: {
          type: 'object',
          properties: {
            status: { type: 'string', enum: ['ok', 'busy', 'saturated'] },
            pool_min: count,
            pool_max: count,
            pool_size: count,
            pool_available: count,
            requests_waiting: count,
            utilization: { type: 'number', minimum: 0, maximum: 1 },
            slots_available: count,
          },
        },
      },
      handler: async () => {
        const { max, open, inUse, waiting } = poolOf(overview)
        const utilization = inUse / max
        return {
          body: {
            status: waiting > 0 ? 'saturated' : utilization > BUSY ? 'busy' : 'ok',
            pool_min: 0,
            pool_max: max,
            pool_size: open,
            pool_available: open - inUse,
            requests_waiting: waiting,
            utilization: floatValue(utilization),
            slots_available: max - inUse,
          },
        }
      },
    },
    {
      method: 'GET',
      path: '/api/db/validate',
      summary: 'Whether every database has the tables that are needed',
      access: 'public',
      effect: 'read',
      responses: {
        200: {
          type: 'object',
          properties: { status: { type: 'string' }, valid: { type: 'boolean' }, tables: names, missing: names },
        },
        503: 'a database is away',
      },
      handler: async () => {
        const { tables, missing } = await tablesOf(overview.databases)
        const valid = missing.length === 0
        return { body: { status: valid ? 'ok' : 'incomplete', valid, tables, missing } }
      },
    },
  ]
}
