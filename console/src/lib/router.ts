// Places of the console: the address is the whole state of a screen, so every screen can be linked, and back and forward work.
import { computed, signal } from '@preact/signals'
import { PREFIX } from './prefix'

const BASE = `${PREFIX}/console`

const address = signal(new URL(window.location.href))

/** How far each place of the history is scrolled down, by its number. */
const tops = new Map<number, number>()
let placeNumber = (window.history.state as { place?: number } | null)?.place ?? 0

const scroller = (): Element | null => document.querySelector('main')

window.addEventListener('popstate', ({ state }) => {
  tops.set(placeNumber, scroller()?.scrollTop ?? 0)
  placeNumber = (state as { place?: number } | null)?.place ?? 0
  address.value = new URL(window.location.href)
  scrollBack(tops.get(placeNumber) ?? 0)
})

const LOADED_MS = 3_000

/** What was there has to be loaded again before it is long enough; whoever scrolls meanwhile is left alone. */
function scrollBack(top: number): void {
  const control = new AbortController()
  const { signal } = control
  for (const kind of ['wheel', 'pointerdown', 'keydown', 'popstate'])
    window.addEventListener(kind, () => control.abort(), { signal, capture: true })
  const until = performance.now() + LOADED_MS
  const step = (): void => {
    if (signal.aborted) return
    const main = scroller()
    main?.scrollTo(0, top)
    if (performance.now() < until && (main === null || main.scrollTop < top - 1)) requestAnimationFrame(step)
    else control.abort()
  }
  requestAnimationFrame(step)
}

/** Inside of the console: `/executions/123`. */
export const path = computed(() => {
  const inside = address.value.pathname.slice(BASE.length).replace(/\/+$/, '')
  return inside === '' ? '/' : inside
})

/** Whether every %-sign of an address stands for a letter. */
export function isReadable(place: string): boolean {
  try {
    return decodeURIComponent(place) !== ''
  } catch {
    return false
  }
}

export const query = computed(() => address.value.searchParams)

export type Query = Readonly<Record<string, string | undefined>>

export function hrefOf(place: string, asked: Query = {}): string {
  const wanted = new URLSearchParams()
  for (const [name, value] of Object.entries(asked)) if (value !== undefined && value !== '') wanted.set(name, value)
  const text = wanted.toString()
  return `${BASE}${place}${text === '' ? '' : `?${text}`}`
}

export function go(href: string, how: { replace?: boolean } = {}): void {
  const next = new URL(href, window.location.href)
  if (next.href === address.value.href) return
  if (how.replace === true) window.history.replaceState({ place: placeNumber }, '', next)
  else {
    tops.set(placeNumber, scroller()?.scrollTop ?? 0)
    placeNumber++
    window.history.pushState({ place: placeNumber }, '', next)
  }
  const isElsewhere = next.pathname !== address.value.pathname
  address.value = next
  if (isElsewhere) scroller()?.scrollTo(0, 0)
}

/** What stands behind # is nobody's place here: out of the address and the history. */
export function dropHash(): void {
  const { pathname, search } = window.location
  window.history.replaceState({ place: placeNumber }, '', pathname + search)
  address.value = new URL(window.location.href)
}

/** Changes parts of the question; undefined takes a part out. */
export function ask(changes: Query, how: { replace?: boolean } = {}): void {
  const next = new URL(address.value)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.searchParams.delete(name)
    else next.searchParams.set(name, value)
  }
  go(next.href, how)
}

/** Plain clicks on links of ours stay in the page; everything else is the browser's. */
export function followLink(event: MouseEvent): void {
  const anchor = (event.target as Element).closest?.('a')
  if (anchor == null || event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || anchor.target === '_blank') return
  const url = new URL(anchor.href, window.location.href)
  if (url.origin !== window.location.origin || !`${url.pathname}/`.startsWith(`${BASE}/`)) return
  event.preventDefault()
  // A part of this screen: the address is what is shown, not where one reads.
  if (anchor.getAttribute('href')?.startsWith('#') === true) document.getElementById(url.hash.slice(1))?.focus()
  else go(url.href)
}
