// The health checks of the dependencies every daemon has.

import type { Bus } from '../../bus/connect.js'
import type { Databases } from '../../db/databases.js'
import { counted } from '../../domain/counted.js'
import { CpError } from '../../errors.js'
import { withDeadline } from '../../runtime/deadline.js'
import { probeWrite } from '../../stores/health/writeProbeStore.js'
import { readBacklog, readOldestAge } from '../../stores/outbox/outboxAdminStore.js'
import type { Ids } from '../ids/ids.js'
import type { HealthCheck } from './health.js'

/** Red when a write is not possible. `troubleWith` knows databases that answer but cannot be used yet. */
export function databaseChecks(
  databases: Databases,
  troubleWith: (label: string) => string | undefined = () => undefined,
): HealthCheck[] {
  return databases.all.map(({ label, db }) => ({
    name: label,
    required: true,
    run: async (deadlineMs) => {
      const trouble = troubleWith(label)
      if (trouble !== undefined) throw new CpError('unavailable', `its schema is not ready: ${trouble}`)
      await probeWrite(db, deadlineMs)
      return db.name
    },
  }))
}

/** Red when nothing can be written because there are no ids, whatever the reason. */
export function idsCheck(ids: Pick<Ids, 'assertMinting' | 'machineId'>): HealthCheck {
  return {
    name: 'ids',
    required: true,
    run: async () => {
      ids.assertMinting()
      return `machine id ${ids.machineId()}`
    },
  }
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

// Enough to tell a few from very many.
const WAITING_MAX = 10_000
// Short: a database that hangs must not keep the next round of all checks waiting.
const AGE_DEADLINE_MS = 500

/** Red when something has waited too long to be published: a silent backlog is the fault that nobody notices. */
export function outboxCheck(databases: Databases, bus: Bus | undefined, ageMaxSeconds: number): HealthCheck {
  const ages = new Map<number, number>()
  return {
    name: 'outbox',
    required: bus !== undefined && ageMaxSeconds > 0,
    run: async () => {
      // A database that does not answer has a check of its own; its backlog is as it was.
      const { answers } = await databases.fanOut((db) => inTime(readOldestAge(db, AGE_DEADLINE_MS)))
      for (const { shard, value } of answers) ages.set(shard, value ?? 0)
      const oldest = Math.max(0, ...ages.values())
      if (bus === undefined) return `NATS is not configured; the oldest row waits for ${Math.round(oldest)} s`
      if (ageMaxSeconds === 0 || oldest <= ageMaxSeconds) return `the oldest row waits for ${Math.round(oldest)} s`
      const backlogs = await databases.fanOut((db) => inTime(readBacklog(db, WAITING_MAX)))
      const waiting = backlogs.answers.reduce((sum, { value }) => sum + backlogRows(value), 0)
      const rows = backlogs.answers.some(({ value }) => value.capped) ? `more than ${waiting}` : String(waiting)
      throw new CpError(
        'unavailable',
        `the oldest unpublished row waits for ${Math.round(oldest)} s (NOETL_CP_OUTBOX_MAX_AGE is ${ageMaxSeconds}), ${counted(rows, 'row')} in all; see "noetl-cp outbox status"`,
      )
    },
  }
}

/** The wait for a connection counts, too. */
function inTime<T>(answer: Promise<T>): Promise<T> {
  return withDeadline(answer, AGE_DEADLINE_MS, { what: 'a look at the outbox' })
}

function backlogRows(backlog: Awaited<ReturnType<typeof readBacklog>>): number {
  return (
    backlog.pending_ready +
    backlog.pending_waiting +
    backlog.failed_ready +
    backlog.failed_waiting +
    backlog.in_flight_live +
    backlog.in_flight_expired
  )
}
