// A list of any length of which only the visible rows exist; with headings it is a table. Rows are asked for by their place, a page
// at a time; the newest pages are kept.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../lib/api'
import { useAskAgain } from '../lib/useAskAgain'

interface VirtualRowsProps<T> {
  /** Changes when the rows mean something else. */
  subject: string
  total: number
  height: number
  /** Rows from this place on, counted from 0; left out where whoever draws a row knows it. */
  load?: (from: number, limit: number, signal: AbortSignal) => Promise<readonly T[]>
  row: (item: T | undefined, index: number) => ComponentChildren
  /** Scrolled into view when it changes. */
  shown?: number | undefined
  label: string
  /** Of a table, whose rows consist of cells. */
  headings?: readonly string[]
}

const PAGE = 200
const PAGES_KEPT = 20
const BEYOND = 8
/** Pixels; Firefox ends at 17 million, and larger letters take their share of that. */
const SPACE_MAX = 8_000_000

export function VirtualRows<T>({ subject, total, height, load, row, shown, label, headings }: VirtualRowsProps<T>) {
  const box = useRef<HTMLDivElement>(null)
  const pages = useRef(new Map<number, readonly T[]>())
  const [top, setTop] = useState(0)
  const [, redraw] = useState(0)
  const [error, setError] = useState<ApiError>()
  const [round, setRound] = useState(0)
  // The panel around it tells of refusals; rows that had no answer are asked for again by themselves.
  useAskAgain(error, () => setRound((before) => before + 1))
  const room = box.current?.clientHeight ?? 600
  const seen = Math.ceil(room / height)
  // Browsers draw nothing as high as a million rows: beyond that a pixel of the scroll bar stands for several.
  const spaceHeight = Math.min(total * height, SPACE_MAX)
  const stretch = spaceHeight <= room ? 1 : (total * height - room) / (spaceHeight - room)
  const passed = top * stretch
  const first = Math.max(0, Math.floor(passed / height) - BEYOND)
  const last = Math.min(total, first + seen + 2 * BEYOND)

  useEffect(() => {
    pages.current.clear()
    redraw((count) => count + 1)
  }, [subject])

  useEffect(() => {
    if (load === undefined) return
    const control = new AbortController()
    const fetchPage = async (page: number): Promise<void> => {
      const rows = await load(page * PAGE, PAGE, control.signal)
      if (control.signal.aborted) return
      pages.current.set(page, rows)
      for (const old of pages.current.keys()) {
        if (pages.current.size <= PAGES_KEPT) break
        pages.current.delete(old)
      }
      redraw((count) => count + 1)
    }
    const missing: number[] = []
    for (let page = Math.floor(first / PAGE); page * PAGE < last; page++) {
      const known = pages.current.get(page)?.length
      if (known === undefined || known < Math.min(PAGE, total - page * PAGE)) missing.push(page)
    }
    Promise.all(missing.map(fetchPage)).then(
      () => setError(undefined),
      (reason: unknown) => {
        if (!control.signal.aborted && reason instanceof ApiError) setError(reason)
      },
    )
    return () => control.abort()
  }, [subject, total, Math.floor(first / PAGE), Math.floor(last / PAGE), round])

  useEffect(() => {
    const element = box.current
    if (shown === undefined || element === null) return
    const at = shown * height
    const from = element.scrollTop * stretch
    if (at < from || at > from + element.clientHeight - height) {
      element.scrollTop = (at - element.clientHeight / 2) / stretch
    }
  }, [shown])

  const visible = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index)
  const drawn = visible.map((index) => ({
    index,
    place: { top: `${index * height - passed + top}px`, height: `${height}px` },
    content: row(pages.current.get(Math.floor(index / PAGE))?.[index % PAGE], index),
  }))
  const space = { class: 'virtual-space', style: { height: `${spaceHeight}px` } }
  const scroll = ({ currentTarget }: { currentTarget: Element }): void => setTop(currentTarget.scrollTop)
  if (headings === undefined) {
    return (
      <div ref={box} class="virtual" onScroll={scroll}>
        <ol aria-label={label} {...space}>
          {drawn.map(({ index, place, content }) => (
            <li key={index} class="virtual-row" style={place}>
              {content}
            </li>
          ))}
        </ol>
      </div>
    )
  }
  return (
    <div ref={box} class="virtual" onScroll={scroll}>
      <table aria-label={label} aria-rowcount={total + 1}>
        <thead class="virtual-head" style={{ height: `${height}px` }}>
          <tr class="event-row" aria-rowindex={1}>
            {headings.map((heading) => (
              <th key={heading}>{heading}</th>
            ))}
          </tr>
        </thead>
        <tbody {...space}>
          {drawn.map(({ index, place, content }) => (
            <tr key={index} class="virtual-row event-row" aria-rowindex={index + 2} style={place}>
              {content}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
