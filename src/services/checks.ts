// The health checks of the dependencies every daemon has.
import type { Bus } from '../bus/connect.js'
import type { Databases } from '../db/databases.js'
import { statement } from '../db/queries.js'
import { CpError } from '../errors.js'
import type { HealthCheck } from './health.js'

const PROBE = statement('select 1')

/** `troubleWith` knows databases that answer but cannot be used yet. */
export function databaseChecks(
  databases: Databases,
  troubleWith: (label: string) => string | undefined = () => undefined,
): HealthCheck[] {
  return databases.all.map(({ label, db }) => ({
    name: label,
    required: true,
    run: async (deadlineMs) => {
      await db.run(PROBE, [], { deadlineMs })
      const trouble = troubleWith(label)
      if (trouble !== undefined) throw new CpError('unavailable', `its schema is not ready: ${trouble}`)
      return db.name
    },
  }))
}

export function natsCheck(bus: Bus | undefined): HealthCheck {
  return {
    name: 'nats',
    // Without an address NATS is off on purpose: events are accepted and outbox rows wait.
    required: bus !== undefined,
    run: async (deadlineMs) => {
      if (bus === undefined) throw new CpError('unavailable', 'not configured (NOETL_NATS_URL); outbox rows wait')
      await bus.ping(deadlineMs)
      return bus.connection().getServer()
    },
  }
}
