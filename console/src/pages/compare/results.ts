// What the steps and iterations of two runs gave, in the order of the first run, as far as both have them: which is the first that
// gave something else. So much is looked at, and no more.
import { apiPath, get } from '../../lib/api'
import { momentAt, spanName } from '../execution/tape'
import type { Happenings } from './counterpart'
import { OWN_ID } from './ownId'

/** Positions of the same thing in both. */
export interface ResultPair {
  a: number
  b: number
}

/** Results that are compared, and bytes of each. */
const COMPARED_MAX = 60
const BYTES_MAX = 65_536
/** Two of either run at a time: a browser has six ways to a daemon. */
const AT_ONCE = 2
/** Among so many events that carry results they are looked for. */
const WINDOW = 300

const CARRIES_RESULT =
  /^(step[._](exit|completed|failed)|(command|action)[._](completed|failed)|(call|action)[._]done)$/

export interface ResultPairs {
  pairs: readonly ResultPair[]
  hasMore: boolean
}

export function resultPairs(a: Happenings, b: Happenings): ResultPairs {
  const pairs: ResultPair[] = []
  for (let position = 1; position <= a.run.length; position++) {
    const other = CARRIES_RESULT.test(momentAt(a.run, position)!.type)
      ? b.positions.get(a.names[position - 1]!)
      : undefined
    if (other === undefined) continue
    if (pairs.length === COMPARED_MAX) return { pairs, hasMore: true }
    pairs.push({ a: position, b: other })
  }
  return { pairs, hasMore: false }
}

export interface Compared {
  /** So many are the same, from the first on. */
  same: number
  /** The next is not; else there was none to look at. */
  isDifferent: boolean
}

/** Begins after those that are known to be the same. */
export async function compareResults(
  [a, b]: readonly [Happenings, Happenings],
  pairs: readonly ResultPair[],
  known: number,
  signal: AbortSignal,
): Promise<Compared> {
  const [ofA, ofB] = await Promise.all([resultsOf(a, signal), resultsOf(b, signal)])
  for (let same = known; same < pairs.length; same += AT_ONCE) {
    const looked = pairs.slice(same, same + AT_ONCE)
    const both = await Promise.all(looked.map((pair) => Promise.all([ofA(pair.a), ofB(pair.b)])))
    const at = both.findIndex(([left, right]) => left === undefined || left !== right)
    if (at !== -1) return { same: same + at, isDifferent: both[at]!.every((text) => text !== undefined) }
  }
  return { same: pairs.length, isDifferent: false }
}

/** Whose result it is; of several commands, which one. */
export function resultName({ run }: Happenings, position: number): string {
  const step = momentAt(run, position)?.step ?? ''
  const span = run.tape.columns['span']![position - 1]!
  const isOneOfMany = span !== 0 && (run.steps.find(({ name }) => name === step)?.inside ?? 0) > 1
  const name = isOneOfMany ? spanName(run, span - 1) : step
  return name === `step ${step}` ? step : name
}

interface Listed {
  position: number
  event_id: string
}

/** By position the text of a result, without what is different in any two runs. Undefined: too far away to be looked for. */
async function resultsOf({ run }: Happenings, signal: AbortSignal) {
  const { execution_id: id, types } = run.tape.head
  const base = `/api/executions/${id}/events`
  const type = types.filter((name) => CARRIES_RESULT.test(name)).join(',')
  const { events } = await get<{ events: Listed[] }>(apiPath(base, { type, limit: WINDOW }), signal)
  const ids = new Map(events.map(({ position, event_id }) => [position, event_id]))
  return async (position: number): Promise<string | undefined> => {
    const event = ids.get(position)
    if (event === undefined) return undefined
    const path = apiPath(`${base}/${event}`, { part: 'result', bytes: BYTES_MAX })
    const { text, total_bytes: bytes, is_cut: isCut } = await get<Part>(path, signal)
    return `${isCut ? bytes : ''}${text.replaceAll(id, OWN_ID).replaceAll(TIME_TAKEN, '')}`
  }
}

interface Part {
  text: string
  total_bytes: number
  is_cut: boolean
}

/** How long it took stands beside the step already. */
const TIME_TAKEN = /"duration_ms": ?[\d.e+-]+/g
