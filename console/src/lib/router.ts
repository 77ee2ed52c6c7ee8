// Places of the console: the address is the whole state of a screen, so every screen can be linked, and back and forward work.
import { computed, signal } from '@preact/signals'
import { PREFIX } from './prefix'

const BASE = `${PREFIX}/console`

const address = signal(new URL(window.location.href))

window.addEventListener('popstate', () => {
  address.value = new URL(window.location.href)
})

/** Inside of the console: `/executions/123`. */
export const path = computed(() => {
  const inside = address.value.pathname.slice(BASE.length).replace(/\/+$/, '')
  return inside === '' ? '/' : inside
})

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
  if (how.replace === true) window.history.replaceState(null, '', next)
  else window.history.pushState(null, '', next)
  const isElsewhere = next.pathname !== address.value.pathname
  address.value = next
  if (isElsewhere) document.querySelector('main')?.scrollTo(0, 0)
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
  go(url.href)
}
