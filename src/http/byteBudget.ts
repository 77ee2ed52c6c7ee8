// One limit on the memory that requests can make us hold: bodies that arrive and answers that wait to be read. When
// it is used up, the oldest entry is dropped. An attack holds its entries for long, so it loses them first; requests
// that come and go quickly are not affected.
import { PassingMap } from '../runtime/passingMap.js'

export interface Holding {
  /** Counts so many more bytes. False: there is no room, even after others gave way. */
  grow(bytes: number): boolean
  /** From here on it is being worked on, and does not give way. */
  settle(): void
  release(): void
}

export interface ByteBudget {
  /** `giveWay` must stop whatever needs the bytes; they are not counted any more when it is called. */
  hold(giveWay: () => void): Holding
  held(): number
}

export function createByteBudget(maxBytes: number): ByteBudget {
  let total = 0
  /** Oldest first. */
  const yielding = new PassingMap<number, { holding: Holding; giveWay: () => void }>()
  let opened = 0

  function makeRoom(asking: Holding): boolean {
    for (const { holding, giveWay } of yielding.values()) {
      if (total <= maxBytes) break
      if (holding === asking) continue
      holding.release()
      giveWay()
    }
    return total <= maxBytes
  }

  return {
    held: () => total,
    hold: (giveWay) => {
      const place = opened++
      let bytes = 0
      let isOpen = true
      const holding: Holding = {
        grow: (more) => {
          if (!isOpen) return false
          total += more
          bytes += more
          if (total <= maxBytes || makeRoom(holding)) return true
          total -= more
          bytes -= more
          return false
        },
        settle: () => void yielding.delete(place),
        release: () => {
          isOpen = false
          yielding.delete(place)
          total -= bytes
          bytes = 0
        },
      }
      yielding.set(place, { holding, giveWay })
      return holding
    },
  }
}
