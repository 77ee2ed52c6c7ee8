// What can be wanted of a live state, what comes of it, and the parts that the slots of live states are made of.
import type { OpenWork } from '../../domain/state/openWork.js'
import type { CpError } from '../../errors.js'

export interface Want {
  /** Decide for it, if it is ours; false only looks. */
  drive: boolean
  /** Look into the log; otherwise what was handed over is all there is. */
  read: boolean
  view: boolean
  open: boolean
  sealed: boolean
}

export interface Outcome {
  version: number
  applied: number
  terminal: boolean
  /** In memory afterwards, with about so many bytes. */
  resident: boolean
  bytes: number
  digest: string
  view: Uint8Array | undefined
  open: OpenWork[] | undefined
  sealed: Uint8Array | undefined
  /** Somebody decides by what happens in it. */
  isDriven: boolean
}

export interface SlotLimits {
  entriesMax: number
  bytesMax: number
  /** Questions in the hands of one thread. */
  parallelMax: number
  threads: number
}

export interface SlotWork {
  /** Brings the state up to date, decides, answers. Calls `handBack` as soon as it needs the thread no more. */
  run(slot: SlotPlace, want: Want, handBack: () => void): Promise<Outcome>
  evict(slot: SlotPlace): Promise<void>
  /** Nobody counts on what its thread may hold of it. */
  drop(slots: readonly SlotPlace[]): void
  onCoalesced(): void
  onEvicted(reason: 'bound' | 'ended' | 'stopped'): void
  /** After each round, and after a state that was borrowed has moved; with the error if it failed. */
  onRound(executionId: string, outcome: Outcome | CpError, want: Want): void
}

export interface SlotPlace {
  executionId: string
  thread: number
}

/** A state that somebody else than the queue works with. To be ended once. */
export interface Borrowed {
  readonly place: SlotPlace
  /** The thread is needed no more. */
  handBack(): void
  /** With what became of the state; a state that is `worthless` is dropped. */
  end(outcome: Outcome | 'unchanged' | 'worthless'): void
}

export interface StateSlots {
  trigger(executionId: string, want?: Partial<Want>): void
  ask(executionId: string, want: Partial<Want>): Promise<Outcome>
  /**
   * A state that is in memory and driven, if its thread has a free hand: at once, or when the thread has answered what it was
   * asked before. Not one that a decision is being written for.
   */
  borrow(executionId: string, patienceMs: number): Promise<Borrowed | undefined>
  /** The version that is in memory; undefined when nothing is. */
  versionOf(executionId: string): number | undefined
  /** It is in memory, and nobody decides by it. */
  isOnlyWatched(executionId: string): boolean
  /** Executions in these lanes with a question under way. */
  busyIn(matches: (executionId: string, lane: number) => boolean): number
  /** What a thread held is gone. */
  forgetThread(thread: number): void
  /** Those that are idle and match, without snapshots; answers their places. */
  forget(matches: (executionId: string, lane: number) => boolean): SlotPlace[]
  stats(): { entries: number; bytes: number; queued: number; running: number }
  /** Takes no more triggers, finishes what runs, saves what it can until the deadline. */
  close(deadlineMs: number): Promise<void>
}
