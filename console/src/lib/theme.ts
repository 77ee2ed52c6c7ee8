// What the reader has chosen of the look. The only things kept in the browser; they say nothing about the installation.
import { signal } from '@preact/signals'
import { keep, kept } from './kept'

export type Theme = 'system' | 'light' | 'dark'
export type Zone = 'local' | 'utc'
export type Density = 'compact' | 'comfortable'

export const theme = signal<Theme>(chosen('theme', ['system', 'light', 'dark']))
export const zone = signal<Zone>(chosen('zone', ['local', 'utc']))
export const density = signal<Density>(chosen('density', ['compact', 'comfortable']))
/** Counts changes of the colours in force, for what is painted on a canvas. */
export const paint = signal(0)

function chosen<T extends string>(name: string, values: readonly [T, ...T[]]): T {
  const found = kept(name)
  return values.find((value) => value === found) ?? values[0]
}

export function applyTheme(): void {
  const { dataset } = document.documentElement
  theme.subscribe((value) => {
    if (value === 'system') delete dataset['theme']
    else dataset['theme'] = value
    keep('theme', value)
    paint.value = paint.peek() + 1
  })
  density.subscribe((value) => {
    dataset['density'] = value
    keep('density', value)
  })
  zone.subscribe((value) => keep('zone', value))
  for (const look of ['(prefers-color-scheme: dark)', '(forced-colors: active)']) {
    matchMedia(look).addEventListener('change', () => {
      paint.value = paint.peek() + 1
    })
  }
}

export function nextTheme(): void {
  const isDark =
    theme.value === 'dark' || (theme.value === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  theme.value = isDark ? 'light' : 'dark'
}

let probe: HTMLElement | undefined
/** Looked up once: each look makes the browser settle all styles. */
const colors = new Map<string, string>()
paint.subscribe(() => colors.clear())

/** A colour of tokens.css as a canvas takes it. */
export function colorOf(token: string): string {
  const known = colors.get(token)
  if (known !== undefined) return known
  if (probe === undefined) {
    probe = document.createElement('i')
    probe.className = 'probe'
    probe.hidden = true
    document.body.append(probe)
  }
  probe.style.color = `var(--${token})`
  const { color } = getComputedStyle(probe)
  colors.set(token, color)
  return color
}
