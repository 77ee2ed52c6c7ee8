// Which faults happen, to whom and for how long: everything follows from the seed, nothing from the run.
import { randomFrom } from './random.js'

export interface FaultKind {
  name: string
  target: 'daemon' | 'postgres' | 'nats' | 'postgresLink' | 'natsLink'
  /** How long it lasts; the longest freezes outlive every lease of the lab. */
  seconds: readonly [number, number]
  needs?: 'tmpfs'
  /** Nothing else happens at the same time. */
  alone?: true
}

/** Of the event stream in the lab: short, so that outages can be longer. */
export const DUPLICATE_WINDOW_SECONDS = 12

export const FAULT_KINDS = [
  { name: 'daemon killed', target: 'daemon', seconds: [0, 3] },
  { name: 'daemon frozen', target: 'daemon', seconds: [1, 7] },
  { name: 'daemon stopped', target: 'daemon', seconds: [0, 1] },
  { name: 'thread killed', target: 'daemon', seconds: [0, 0] },
  { name: 'clock jump', target: 'daemon', seconds: [1, 3] },
  { name: 'clocks apart', target: 'daemon', seconds: [3, 6] },
  { name: 'postgres restarted', target: 'postgres', seconds: [0, 0] },
  { name: 'postgres frozen', target: 'postgres', seconds: [1, 5] },
  { name: 'backends terminated', target: 'postgres', seconds: [0, 0] },
  // Long enough for whoever counts attempts to give up.
  { name: 'postgres read-only', target: 'postgres', seconds: [8, 12] },
  { name: 'postgres disk full', target: 'postgres', seconds: [2, 4], needs: 'tmpfs' },
  { name: 'nats killed', target: 'nats', seconds: [0, 4] },
  { name: 'nats frozen', target: 'nats', seconds: [1, 4] },
  // Longer than every deadline of those who wait for an answer.
  { name: 'nats stalled', target: 'nats', seconds: [9, 13] },
  { name: 'nats restored', target: 'nats', seconds: [2, 5], alone: true },
  { name: 'nats disk full', target: 'nats', seconds: [2, 4], needs: 'tmpfs' },
  { name: 'postgres link black-holed', target: 'postgresLink', seconds: [1, 5] },
  { name: 'postgres link refused', target: 'postgresLink', seconds: [0, 3] },
  { name: 'postgres link reset', target: 'postgresLink', seconds: [0, 0] },
  { name: 'nats link black-holed', target: 'natsLink', seconds: [1, 5] },
  // Longer than the broker remembers what it has stored.
  {
    name: 'nats answers lost',
    target: 'natsLink',
    seconds: [DUPLICATE_WINDOW_SECONDS + 2, DUPLICATE_WINDOW_SECONDS + 5],
  },
  { name: 'nats link refused', target: 'natsLink', seconds: [0, 3] },
  { name: 'nats link reset', target: 'natsLink', seconds: [0, 0] },
] as const satisfies readonly FaultKind[]

export type FaultName = (typeof FAULT_KINDS)[number]['name']

export interface PlannedFault {
  name: FaultName
  /** Taken modulo the number of possible victims. */
  victim: number
  seconds: number
  /** What the kind makes of it: how far a clock jumps, which of several links. */
  dice: number
}

/** What happens at the same time. */
export type PlannedRound = { faults: PlannedFault[]; restSeconds: number }

export interface PlanOptions {
  seed: string
  rounds: number
  /** How often a second fault comes on top of the first. */
  overlap: number
  without?: readonly string[]
  restSeconds: readonly [number, number]
}

const kindOf = (name: FaultName): FaultKind => FAULT_KINDS.find((kind) => kind.name === name)!

/** Every kind comes once before any comes twice. */
export function planFaults(options: PlanOptions): PlannedRound[] {
  const random = randomFrom(`${options.seed}/plan`)
  const kinds: FaultKind[] = FAULT_KINDS.filter(({ name }) => !options.without?.includes(name))
  let bag: FaultKind[] = []
  // Two at a time hit different things: a frozen process cannot be stopped as well, nor a killed server frozen.
  const draw = (besides?: FaultName): PlannedFault => {
    const taken = besides === undefined ? undefined : kindOf(besides).target
    const isFree = ({ target, alone }: FaultKind): boolean =>
      taken === undefined || (target !== taken && alone !== true)
    if (!bag.some(isFree)) bag = [...random.shuffled(kinds), ...bag]
    const place = bag.findLastIndex(isFree)
    const [kind] = bag.splice(place, 1) as [FaultKind]
    const [from, to] = kind.seconds
    const seconds = Math.round((from + random.next() * (to - from)) * 10) / 10
    return { name: kind.name as FaultName, victim: random.between(0, 59), seconds, dice: random.next() }
  }
  return Array.from({ length: options.rounds }, () => {
    const faults = [draw()]
    const first = kindOf(faults[0]!.name)
    const others = kinds.some(({ target, alone }) => target !== first.target && alone !== true)
    if (random.chance(options.overlap) && others && first.alone !== true) faults.push(draw(first.name as FaultName))
    const [from, to] = options.restSeconds
    return { faults, restSeconds: from + random.next() * (to - from) }
  })
}
