// The loop of a step: over a list, side by side or one after the other, or over rows claimed frame by frame.

import type { Reader } from '../catalog/violation.js'
import type { JsonObject, JsonValue } from '../json/value.js'
import type { CompiledTree, TextOptions } from '../template/tree.js'
import { needsSecrets } from './deferral.js'
import { FAILURE_MODES } from './executor.js'
import { CURSOR_KEYS, FRAME_KEYS, LOOP_KEYS, LOOP_POLICY_KEYS, LOOP_SPEC_KEYS, warnUnknownKeys } from './knownKeys.js'
import type { Count, CursorLoop, FailureMode, FramePlan, LoopPlan, ToolPlan } from './plan.js'
import type { PlanSite } from './site.js'
import { fixedLayer, keyLayer, mergeLayers } from './trees.js'
import { deferredTemplates, workerReads } from './workerReads.js'

const MODES = ['sequential', 'parallel', 'cursor'] as const
/** Where iterations run, which is not a question here; real playbooks say it. */
const PLACES = ['distributed', 'local'] as const
const ITERATOR = 'item'

export function readLoop(step: Reader, site: PlanSite): LoopPlan | undefined {
  const loop = step.mapping('loop')
  if (loop === undefined) return undefined
  warnUnknownKeys(loop, LOOP_KEYS, site)
  const spec = loop.mapping('spec')
  warnUnknownKeys(spec, LOOP_SPEC_KEYS, site)
  const iterator = readIterator(loop)
  site.names.add(iterator)
  const base = { iterator, pointer: loop.path, failureMode: readFailureMode(spec, site) }
  const mode = spec?.oneOf('mode', MODES) ?? (loop.has('cursor') ? 'cursor' : 'sequential')
  const maxInFlight = spec === undefined ? undefined : site.count(spec, 'max_in_flight')

  if (loop.has('cursor') || mode === 'cursor') return readCursor(loop, spec, maxInFlight, base, site)
  const source = sourceOf(loop.raw())
  if (source === undefined) {
    return site.problems.error(loop.path, 'goes over nothing; give a list in `in`, or a cursor')
  }
  if (mode === 'sequential' && maxInFlight !== undefined) {
    site.problems.warn(
      `${loop.path}/spec/max_in_flight`,
      'has no effect: a sequential loop runs one iteration at a time',
    )
  }
  const list = site.loopList(source, `${loop.path}/in`)
  return { ...base, mode, list, source, maxInFlight: mode === 'sequential' ? 1 : maxInFlight }
}

/** A null is a list that is null, not a loop without a list: it fails when the step runs, with the reason. */
function sourceOf(loop: JsonObject): JsonValue | undefined {
  return Object.hasOwn(loop, 'in') ? loop['in'] : undefined
}

function readIterator(loop: Reader): string {
  const name = loop.text('iterator')
  if (name === undefined) return ITERATOR
  if (/^[A-Za-z_]\w*$/.test(name)) return name
  loop.wrong('iterator', `${JSON.stringify(name)} is not a name that templates can read; use letters, digits and _`)
  return ITERATOR
}

function readFailureMode(spec: Reader | undefined, site: PlanSite): FailureMode {
  const policy = spec?.mapping('policy')
  warnUnknownKeys(policy, LOOP_POLICY_KEYS, site)
  return policy?.oneOf('exec', [...FAILURE_MODES, ...PLACES]) === 'best_effort' ? 'best_effort' : 'fail_fast'
}

function readCursor(
  loop: Reader,
  spec: Reader | undefined,
  maxInFlight: Count | undefined,
  base: Pick<CursorLoop, 'iterator' | 'pointer' | 'failureMode'>,
  site: PlanSite,
): CursorLoop | undefined {
  const cursor = loop.mapping('cursor')
  if (cursor === undefined) {
    return loop.has('cursor') ? undefined : site.problems.error(loop.path, 'is a cursor loop without a cursor')
  }
  warnUnknownKeys(cursor, CURSOR_KEYS, site)
  const claim = planClaim(cursor, site)
  const frame = readFrame(spec?.mapping('frame'), site)
  return claim === undefined ? undefined : { ...base, mode: 'cursor', claim, maxInFlight: maxInFlight ?? 1, frame }
}

/** The claim is a command like any other: a query of the kind that the cursor names. */
function planClaim(cursor: Reader, site: PlanSite): ToolPlan | undefined {
  const kind = cursor.text('kind') ?? 'postgres'
  const claim = cursor.text('claim')
  if (claim === undefined) {
    return cursor.has('claim') ? undefined : site.problems.error(cursor.path, 'has no claim: the query that takes rows')
  }
  const field = (key: string, textOptions: TextOptions = {}): CompiledTree =>
    site.tree(cursor.value(key) as JsonValue, `${cursor.path}/${key}`, {
      textOptions: () => textOptions,
      isDeferred: needsSecrets,
    })
  const options = cursor.mapping('options')
  const layers = options === undefined ? [] : [{ tree: field('options'), keys: Object.keys(options.raw()) }]
  const auth = ['auth', 'credential'].filter((key) => cursor.has(key)).map((key) => keyLayer(key, field(key)))
  const query = keyLayer('query', field('claim', { isText: true }))
  const config = mergeLayers([fixedLayer({ kind }), ...layers, ...auth, query])
  return {
    kind,
    action: kind,
    pointer: cursor.path,
    native: undefined,
    config,
    args: undefined,
    tasks: [],
    kinds: [kind],
    workerReads: workerReads(deferredTemplates(config)),
    wantsWholeContext: false,
    selections: [],
  }
}

function readFrame(frame: Reader | undefined, site: PlanSite): FramePlan {
  warnUnknownKeys(frame, FRAME_KEYS, site)
  const count = (key: string, otherwise: number): Count => (frame && site.count(frame, key)) ?? otherwise
  return {
    maxRows: count('max_rows', 1),
    rowConcurrency: count('row_concurrency', 1),
    maxSeconds: count('max_seconds', 30),
    leaseSeconds: count('lease_seconds', 120),
    heartbeatSeconds: count('heartbeat_seconds', 30),
    process: frame?.oneOf('process', ['row', 'frame']) ?? 'row',
    maxAttempts: count('max_attempts', 3),
  }
}
