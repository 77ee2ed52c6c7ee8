// Where in the log the reader stands: so many events have happened. It follows the end until it is moved; the address keeps
// it as an event id, which stays right when something arrives late.
import { signal } from '@preact/signals'
import { ask, query } from '../../lib/router'
import type { Moment } from './record'

/** Undefined: at the end, wherever that is. */
const chosen = signal<number | undefined>(undefined)
export const pin = signal<number | undefined>(undefined)
export const isPlaying = signal(false)

const REST_MS = 250
let rest: ReturnType<typeof setTimeout> | undefined

export function positionAt(total: number): number {
  return Math.min(total, chosen.value ?? total)
}

export function isFollowing(): boolean {
  return chosen.value === undefined
}

export function moveTo(position: number, moments: readonly Moment[]): void {
  const total = moments.length
  const next = Math.max(0, Math.min(total, Math.round(position)))
  chosen.value = next >= total ? undefined : next
  clearTimeout(rest)
  rest = setTimeout(() => writeDown(moments), REST_MS)
}

export function pinAt(position: number | undefined, moments: readonly Moment[]): void {
  pin.value = position
  writeDown(moments)
}

function writeDown(moments: readonly Moment[]): void {
  const word = (position: number | undefined): string | undefined =>
    position === undefined ? undefined : position === 0 ? 'start' : `event:${moments[position - 1]?.eventId}`
  ask({ at: word(chosen.value), pin: word(pin.value) }, { replace: true })
}

/** Takes both from the address, once the log is there. */
export function readCursor(moments: readonly Moment[]): void {
  const placeOf = (word: string | null): number | undefined => {
    if (word === null) return undefined
    if (word === 'start') return 0
    const id = /^event:(\d+)$/.exec(word)?.[1]
    const found = moments.findIndex((moment) => moment.eventId === id)
    return found === -1 ? undefined : found + 1
  }
  chosen.value = placeOf(query.value.get('at'))
  pin.value = placeOf(query.value.get('pin'))
  isPlaying.value = false
}
