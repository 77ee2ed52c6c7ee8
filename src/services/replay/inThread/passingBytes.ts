// Bytes that are needed for a moment. A thread that has answered does nothing more, so nobody would collect them: they are
// given back by hand, which only memory that can change its size allows. Node 20 has it, the types of ES2023 do not yet.

interface ResizableBuffer extends ArrayBuffer {
  resize(length: number): void
}

const Resizable = ArrayBuffer as unknown as new (length: number, options: { maxByteLength: number }) => ResizableBuffer

/** Runs the work with a maker of bytes, which are gone when it has ended. */
export function withPassingBytes<T>(work: (make: (length: number) => Uint8Array<ArrayBuffer>) => T): T {
  const made: ResizableBuffer[] = []
  try {
    return work((length) => {
      const buffer = new Resizable(length, { maxByteLength: length })
      made.push(buffer)
      return new Uint8Array(buffer, 0, length)
    })
  } finally {
    for (const buffer of made) buffer.resize(0)
  }
}
