// The replay fold: a log in, a state document with its checksums out. Events are added page after page
// in id order and nothing but the state is kept, so memory does not grow with the log. The same events
// give the same bytes on every machine: no clock, no randomness, no input is changed.
// In `cp` an id counts once, and any order, duplication or split of a log gives the same answer.

import { CpError } from '../../errors.js'
import type { JsonObject } from '../json/value.js'
import { type Integer, integerOf } from './coerce.js'
import { eventIdOf, inIdOrder, UniqueIntake } from './eventIntake.js'
import { EventView } from './eventView.js'
import { FoldRules } from './foldRules.js'
import { FoldState, mapDocument } from './foldState.js'
import type { Fold, FoldOptions, FoldResult } from './foldTypes.js'
import { referencesOf } from './payloadReferences.js'
import {
  CP_PROFILE_MARK,
  checkProjection,
  isShown,
  MAP_SURFACES,
  type MapSurface,
  type ProjectionChecksums,
} from './profile.js'
import { createServerFold } from './server/serverFold.js'
import { stateChecksums, stateText } from './stateChecksum.js'
import { FoldWarnings } from './warnings.js'

export function createFold(options: FoldOptions): Fold {
  checkProjection(options.profile, options.projection)
  if (options.profile === 'server') return createServerFold(options)
  const warnings = new FoldWarnings()
  const rules = new FoldRules(options.profile, warnings)
  const base = usableBase(options)
  const state = FoldState.create(headOf(options), base)
  const view = new EventView()
  let isFinished = false

  const apply = (event: JsonObject, id: Integer | null): void => {
    rules.eventId = id
    view.read(event, id, rules)
    if (!view.kind.isKnown) warnings.addUnknownType(view.type, id)
    state.evolve(view, rules)
  }
  const intake =
    options.profile === 'cp'
      ? new UniqueIntake(apply, warnings, base === null ? null : (integerOf(base['last_event_id']) ?? null))
      : { add: (event: JsonObject) => apply(event, eventIdOf(event)), end: () => 0 }

  return {
    add(event) {
      if (isFinished) throw new CpError('internal', 'an event was added to a finished fold')
      intake.add(event)
    },
    finish() {
      if (isFinished) throw new CpError('internal', 'a fold was finished twice')
      const duplicates = intake.end()
      isFinished = true
      return resultOf(options, state, rules, warnings, duplicates)
    },
  }
}

/** Folds a complete list; it is sorted by event id first, ties in input order. */
export function foldEvents(options: FoldOptions, events: readonly JsonObject[]): FoldResult {
  const fold = createFold(options)
  const ordered = inIdOrder(events)
  for (let index = 0; index < ordered.length; index++) fold.add(ordered[index]!)
  return fold.finish()
}

function usableBase(options: FoldOptions): JsonObject | null {
  const base = options.baseState ?? null
  if (base === null || Object.keys(base).length === 0) return null
  const mark = base['fold_profile'] ?? null
  const expected = options.profile === 'cp' ? CP_PROFILE_MARK : null
  if (mark !== expected) {
    throw new CpError(
      'refused',
      `the seed state has fold profile ${String(mark)}, this fold is ${expected ?? 'python'}`,
    )
  }
  if (options.profile === 'python') return base
  if (base['projection'] !== 'all') {
    throw new CpError('refused', 'only a state of projection "all" holds every map and can be continued')
  }
  // Where an earlier fold started from is not part of what happened: seed and tail must equal the whole.
  const { replay_snapshot: _earlier, ...rest } = base
  return rest
}

/** What a state says about itself before its first event. */
export function headOf(options: FoldOptions): JsonObject {
  const { snapshotSeed: seed } = options
  const head: JsonObject = {
    tenant_id: options.tenantId,
    organization_id: options.organizationId,
    execution_id: options.executionId,
    projection: options.projection,
    upcaster_registry_digest: options.upcasterRegistryDigest,
  }
  if (options.profile === 'cp') head['fold_profile'] = CP_PROFILE_MARK
  if (seed) {
    const { aggregate_id, aggregate_type, version, checksum, meta } = seed
    head['replay_snapshot'] = { aggregate_id, aggregate_type, version, checksum, meta }
  }
  return head
}

function resultOf(
  options: FoldOptions,
  state: FoldState,
  rules: FoldRules,
  warnings: FoldWarnings,
  duplicates: number,
): FoldResult {
  const shown = new Set<MapSurface>(MAP_SURFACES.filter((map) => isShown(options.profile, options.projection, map)))
  const kept: Buffer[] | null = options.keepText === true ? [] : null
  const { checksum, projections } = stateChecksums(state, shown, rules, kept)
  let document: JsonObject | null = null
  return {
    // Made when it is first asked for: whoever only compares checksums does not pay for it.
    get state() {
      document ??= documentOf(state, shown, checksum, projections)
      return document
    },
    checksum,
    projectionChecksums: projections,
    eventCount: rules.integer('event_count', state.head['event_count']),
    lastEventId: integerOf(state.head['last_event_id']) ?? null,
    duplicates,
    warnings: warnings.list(),
    unknownTypes: { count: warnings.unknownCount, types: warnings.unknownTypes() },
    payloadReferences: () => referencesOf(state, options.profile),
    canonicalText: () => stateText(state, shown),
    canonicalBytes: kept,
  }
}

function documentOf(
  state: FoldState,
  shown: ReadonlySet<MapSurface>,
  checksum: string,
  projections: ProjectionChecksums,
): JsonObject {
  const document: JsonObject = { ...state.head }
  for (const surface of MAP_SURFACES) {
    document[surface] = shown.has(surface) ? mapDocument(state.maps[surface]) : {}
  }
  document['checksum_algorithm'] = 'sha256'
  document['checksum'] = checksum
  document['projection_checksums'] = projections
  return document
}
