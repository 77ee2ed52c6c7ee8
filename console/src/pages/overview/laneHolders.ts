// Who holds which lanes, over all shards: one look for each holder, and the cells of a strip.
import { type Holder, type InstanceOverview, LANES } from './instance'

/** Its colour and its mark: beside colours nobody must tell apart, four marks say the same again. */
export interface Look {
  colour: number
  mark: number
}

export interface Strip {
  name: string
  holders: readonly Holder[]
}

const COLOURS = 5
const MARKS = 4

/** In the order of their names: whoever stays keeps its look while nobody before it comes or goes. */
export function looksOf({ shards, drivers }: Pick<InstanceOverview, 'shards' | 'drivers'>): Map<string, Look> {
  const names = [...shards.flatMap(({ owners }) => owners), ...drivers].map(({ owner }) => owner)
  const known = shards.flatMap(({ relays }) => relays).filter(({ alive }) => alive)
  const all = [...new Set([...names, ...known.map(({ relay_id }) => relay_id)])].sort()
  return new Map(all.map((name, place) => [name, { colour: place % COLOURS, mark: place % MARKS }]))
}

export function stripsOf({ shards, drivers }: Pick<InstanceOverview, 'shards' | 'drivers'>, shard: number): Strip[] {
  const driving = drivers.filter((driver) => driver.shard === shard)
  const shares = [...new Set(driving.map(({ share }) => share))]
  return [
    { name: 'published by', holders: shards.find((one) => one.shard === shard)?.owners ?? [] },
    ...shares.map((share) => ({
      name: shares.length === 1 ? 'driven by' : `driven by (${share})`,
      holders: driving.filter((driver) => driver.share === share),
    })),
  ]
}

export interface Cell {
  lane: number
  /** Undefined: nobody holds it. */
  owner?: string
  leaseSeconds: number
}

/** Every lane, with whoever holds it now. */
export function cellsOf(holders: readonly Holder[]): Cell[] {
  const cells: Cell[] = Array.from({ length: LANES }, (_, lane) => ({ lane, leaseSeconds: 0 }))
  for (const { owner, slots, lease_seconds: seconds } of holders) {
    for (const [place, lane] of slots.entries()) {
      const leaseSeconds = seconds[place] ?? 0
      // One whose lease has ended may be taken by anybody.
      if (leaseSeconds > 0 && cells[lane] !== undefined) cells[lane] = { lane, owner, leaseSeconds }
    }
  }
  return cells
}

/** 0, 1, 2, 5 → 0–2, 5 */
export function rangesText(lanes: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const lane of lanes) {
    const last = ranges.at(-1)
    if (last !== undefined && lane === last[1] + 1) last[1] = lane
    else ranges.push([lane, lane])
  }
  return ranges.map(([from, to]) => (from === to ? from : `${from}–${to}`)).join(', ')
}
