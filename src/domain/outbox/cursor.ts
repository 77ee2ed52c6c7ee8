// Where a list of outbox rows goes on, as text: shard and id, after it the places in shards that could not be read before.
export interface Place {
  shard: number
  /** The id of the last row that was read. */
  after: string
}

export interface Cursor extends Place {
  skipped?: readonly Place[]
}

/** What stands between shard and id: a hyphen in addresses, a colon in commands. */
export type CursorMark = '-' | ':'

export function cursorText({ skipped = [], ...place }: Cursor, mark: CursorMark): string {
  return [place, ...skipped].map(({ shard, after }) => `${shard}${mark}${after}`).join('.')
}

/** Undefined: it is none. */
export function parseCursor(text: string, mark: CursorMark): Cursor | undefined {
  const places = text.split('.').map((part): Place | undefined => {
    const [shard = '', after = '', ...more] = part.split(mark)
    if (!/^\d{1,4}$/.test(shard) || !/^\d{1,19}$/.test(after) || more.length > 0) return undefined
    return BigInt(after) > ID_MAX ? undefined : { shard: Number(shard), after: String(BigInt(after)) }
  })
  if (places.includes(undefined)) return undefined
  const [first, ...skipped] = places as [Place, ...Place[]]
  return skipped.length === 0 ? first : { ...first, skipped }
}

const ID_MAX = 9_223_372_036_854_775_807n
