// Frames along a log from which any position is near: a state that grows with the log and is sealed now and then. When
// their bytes run out every second frame goes and the distance doubles.
import type { JsonObject } from '../../json/value.js'
import { type Frame, LogShared, LogState } from './logState.js'

const DISTANCE_MIN = 1_000
/** The frame before the first event is always there; this many more, or jumps would fold the whole log. */
const FRAMES_MIN = 2

export class Keyframes {
  readonly shared: LogShared
  private frames: Frame[]
  private end: LogState
  private sealedBytes = 0
  private distance: number

  constructor(
    options: LogShared['options'],
    /** How many events there will be, as far as known. */
    expected: number,
    private bytesMax: number,
  ) {
    this.shared = new LogShared(options)
    this.distance = Math.max(DISTANCE_MIN, Math.ceil(expected / 100))
    this.end = LogState.atEnd(this.shared)
    this.frames = [this.end.seal()]
  }

  /** How many events are folded. */
  get position(): number {
    return this.end.position
  }

  /** The last event as the fold read it. */
  get view() {
    return this.end.view
  }

  /** Events between two frames, at most. */
  get step(): number {
    return this.distance
  }

  get bytes(): number {
    return this.sealedBytes + this.shared.references.length * 100
  }

  append(event: JsonObject): void {
    this.end.apply(event)
    if (this.end.position % this.distance !== 0) return
    const frame = this.end.seal()
    this.frames.push(frame)
    this.sealedBytes += frame.bytes
    this.thin()
  }

  /** Less room from now on. */
  limit(bytesMax: number): void {
    this.bytesMax = bytesMax
    this.thin()
  }

  /** The newest frame at or before a position. */
  before(position: number): Frame {
    let [low, high] = [0, this.frames.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.frames[middle]!.position <= position) low = middle
      else high = middle - 1
    }
    return this.frames[low]!
  }

  stateFrom(frame: Frame): LogState {
    return LogState.from(this.shared, frame)
  }

  /** Forgets what comes after a position; events go on after the frame before it, whose position is answered. */
  rewind(position: number): number {
    const frame = this.before(position)
    const dropped = this.frames.splice(this.frames.indexOf(frame) + 1)
    for (const { bytes } of dropped) this.sealedBytes -= bytes
    this.shared.cutTo(frame)
    this.end = LogState.atEnd(this.shared, frame)
    return frame.position
  }

  private thin(): void {
    while (this.sealedBytes > this.bytesMax && this.frames.length > FRAMES_MIN) {
      this.distance *= 2
      const kept = this.frames.filter(({ position }, index) => index === 0 || position % this.distance === 0)
      // What a frame alone held is shared by its successor from now on, at worst; half is what was measured.
      this.sealedBytes = Math.ceil((this.sealedBytes * kept.length) / this.frames.length)
      this.frames = kept
    }
  }
}
