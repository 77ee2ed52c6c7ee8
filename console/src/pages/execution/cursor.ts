// Where in the log the reader stands: so many events have happened. It follows the end until it is moved; the address keeps
// it as an event id, which stays right when something arrives late.
import { signal } from '@preact/signals'
import { ask, query } from '../../lib/router'
import { askPlace, type Slices } from './slices'

/** Undefined: at the end, wherever that is. */
const chosen = signal<number | undefined>(undefined)
export const pin = signal<number | undefined>(undefined)
export const isPlaying = signal(false)

export function positionAt(length: number): number {
  return Math.min(length, chosen.value ?? length)
}

export function isFollowing(): boolean {
  return chosen.value === undefined
}

export function moveTo(position: number, length: number): void {
  movedAt = saidInAddress()
  const next = Math.max(0, Math.min(length, Math.round(position)))
  chosen.value = next >= length ? undefined : next
}

export function togglePin(position: number): void {
  movedAt = saidInAddress()
  pin.value = pin.value === undefined ? position : undefined
}

/** What the address said when it was written or read last. */
let known = ''
/** What it said when handle or pin were moved since. */
let movedAt: string | undefined

function saidInAddress(): string {
  return `${query.value.get('at')} ${query.value.get('pin')}`
}

/** Somebody followed a link to another moment, or went back to one; empty: the address has what is shown. */
export function newlyAsked(): string {
  const said = saidInAddress()
  return said === known ? '' : said
}

/** It was moved, and the address has not been told: that takes an answer of the daemon. */
export function isAheadOfAddress(): boolean {
  return movedAt === saidInAddress()
}

/** Both into the address, unless that asks for another moment by now. */
export async function writeDown(slices: Slices, signal: AbortSignal): Promise<void> {
  const word = async (position: number | undefined): Promise<string | undefined> => {
    if (position === undefined) return undefined
    return position === 0 ? 'start' : `event:${(await slices.load(position, signal)).eventId}`
  }
  const [at, pinned] = [await word(chosen.peek()), await word(pin.peek())]
  if (signal.aborted || (newlyAsked() !== '' && !isAheadOfAddress())) return
  known = `${at ?? null} ${pinned ?? null}`
  movedAt = undefined
  ask({ at, pin: pinned }, { replace: true })
}

/** At the end, with nothing pinned. */
export function forgetCursor(): void {
  known = saidInAddress()
  movedAt = undefined
  chosen.value = undefined
  pin.value = undefined
  isPlaying.value = false
}

/** Both from the address. */
export async function readCursor(executionId: string, signal: AbortSignal): Promise<void> {
  const placeOf = async (word: string | null): Promise<number | undefined> => {
    if (word === 'start') return 0
    const id = /^event:(\d+)$/.exec(word ?? '')?.[1]
    return id === undefined ? undefined : (await askPlace(executionId, { event: id }, signal)).position
  }
  const asked = saidInAddress()
  const [at, pinned] = [await placeOf(query.peek().get('at')), await placeOf(query.peek().get('pin'))]
  if (signal.aborted) return
  known = asked
  movedAt = undefined
  chosen.value = at
  pin.value = pinned
  isPlaying.value = false
}
