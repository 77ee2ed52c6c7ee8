// Walks an execution event by event, in both directions. Each state is made from a nearby one and the events
// between, so a step back costs no more than a short fold.

import { wireTimeFromPostgres } from '../../domain/events/wireTime.js'
import type { JsonObject } from '../../domain/json/value.js'
import { withoutSecrets } from '../../domain/replay/answer.js'
import { contentDifferences, type Difference } from '../../domain/replay/diff.js'
import { foldEvents } from '../../domain/replay/fold.js'
import type { FoldProfile } from '../../domain/replay/profile.js'
import type { ReplayQuery } from '../../domain/replay/replayQuery.js'
import { REGISTRY_DIGEST } from '../../domain/replay/schemaLabel.js'
import { redact } from '../../domain/secrets/redact.js'
import { secretRules } from '../../domain/secrets/secretNames.js'
import { createRowReader } from '../../stores/replay/replayRows.js'
import { readLog } from '../../stores/replay/replayStore.js'
import { onSnapshot } from './inThread/database.js'
import { placeOf, type ReplayDeps } from './replay.js'

export interface Walk {
  readonly length: number
  /** The log is longer than what can be walked. */
  readonly truncated: boolean
  /** 1 is the first event; 0 is before it. */
  step(index: number): WalkStep
}

export interface WalkStep {
  index: number
  event: JsonObject | null
  state: JsonObject
  changes: Difference[]
}

export const WALK_EVENTS_MAX = 100_000

export async function loadEvents(
  deps: ReplayDeps,
  query: ReplayQuery,
): Promise<{ events: JsonObject[]; truncated: boolean }> {
  const executionId = String(query.executionId)
  const { database, deadlineMs } = placeOf(deps, executionId)
  const events: JsonObject[] = []
  const toEvent = createRowReader()
  let truncated = false
  await onSnapshot(database, deadlineMs, ({ connection, leftMs }) =>
    readLog(
      connection,
      {
        executionId,
        tenantId: query.tenantId,
        organizationId: query.organizationId,
        columns: 'timed',
        fromEventId: -(2n ** 63n),
        toEventId: 2n ** 63n - 1n,
        untilTime: null,
        untilVersion: null,
        pageSize: 2_000,
      },
      {
        leftMs,
        onRow: (row) => {
          truncated = events.length >= WALK_EVENTS_MAX
          if (truncated) return false
          events.push({ ...toEvent(row), created_at: wireTimeFromPostgres(row.created_at ?? '', 'created_at') })
          return true
        },
      },
    ),
  )
  return { events, truncated }
}

const KEPT_MAX = 64

export function createWalk(
  profile: FoldProfile,
  query: ReplayQuery,
  events: readonly JsonObject[],
  truncated: boolean,
  secretNames: readonly string[] | null = [],
): Walk {
  const shown = (state: JsonObject): JsonObject => (secretNames === null ? state : withoutSecrets(state, secretNames))
  const rules = secretNames === null ? null : secretRules(secretNames)
  const kept = new Map<number, JsonObject>()

  function stateAt(index: number): JsonObject {
    const known = kept.get(index)
    if (known !== undefined) return known
    // The nearest state before it that is still known.
    let start = 0
    for (const candidate of kept.keys()) if (candidate < index && candidate > start) start = candidate
    const { state } = foldEvents(
      {
        profile,
        tenantId: query.tenantId,
        organizationId: query.organizationId,
        executionId: query.executionId,
        projection: 'all',
        upcasterRegistryDigest: REGISTRY_DIGEST,
        baseState: kept.get(start) ?? null,
      },
      events.slice(start, index),
    )
    keep(index, state)
    return state
  }

  function keep(index: number, state: JsonObject): void {
    kept.set(index, state)
    for (const oldest of kept.keys()) {
      if (kept.size <= KEPT_MAX) break
      kept.delete(oldest)
    }
  }

  return {
    length: events.length,
    truncated,
    step: (index) => {
      const before = shown(stateAt(Math.max(0, index - 1)))
      const state = shown(stateAt(index))
      const changes = index === 0 ? [] : contentDifferences(before, state)
      const event = events[index - 1] ?? null
      return { index, event: rules === null ? event : (redact(event, rules) as JsonObject | null), state, changes }
    },
  }
}
