// How many columns of a terminal a text takes, and cutting it to so many: wide characters take two, marks none.
import stringWidth from 'string-width'

const PLAIN = /^[\x20-\x7e]*$/
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

export function textWidth(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(text)
}

export function padEndTo(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)))
}

/** As much of the beginning as fits; at least one character, so that whoever cuts on and on comes to an end. */
export function beginningOf(text: string, width: number): string {
  if (PLAIN.test(text)) return text.slice(0, Math.max(1, width))
  let taken = ''
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    used += textWidth(segment)
    if (used > width && taken !== '') break
    taken += segment
  }
  return taken
}

function endOf(text: string, width: number): string {
  let taken = ''
  let used = 0
  for (const { segment } of [...graphemes.segment(text)].reverse()) {
    used += textWidth(segment)
    if (used > width) break
    taken = segment + taken
  }
  return taken
}

const PATH = /^[^\s]*\/[^\s]*$/

/** One line of at most this width: paths keep their end, which tells them apart, everything else its beginning. */
export function cutText(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  if (width <= 1) return ''
  return PATH.test(text) ? `…${endOf(text, width - 1)}` : `${beginningOf(text, width - 1).trimEnd()}…`
}
