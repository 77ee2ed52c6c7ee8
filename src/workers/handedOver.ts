// Byte arrays at the top of an answer change hands between threads instead of being copied.
import { move, Piscina } from 'piscina'

export function handedOver<R>(result: R, value: unknown): R {
  if (typeof value !== 'object' || value === null) return result
  const buffers = Object.values(value).flatMap((item) =>
    item instanceof Uint8Array && item.buffer instanceof ArrayBuffer ? [item.buffer] : [],
  )
  if (buffers.length === 0) return result
  const movable = { [Piscina.transferableSymbol]: buffers, [Piscina.valueSymbol]: result }
  return move(movable as never) as unknown as R
}
