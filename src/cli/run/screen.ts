// Lines of a run on standard error. On a terminal, visits under way stand at the bottom and are drawn again as they
// change; what has ended is written once and scrolls away. In a pipe only what has ended is written.
import colors from 'picocolors'
import type { Stream } from '../io.js'
import type { Visit } from './story.js'
import { visitLine } from './visitLine.js'

export interface Screen {
  show(visit: Visit): void
  /** A line of its own among the visits. */
  line(text: string): void
  /** Takes away what is under way. */
  close(): void
}

export interface ScreenOptions {
  stream: Stream
  color: boolean
  nameWidth: number
  now(): number
}

const DRAW_EVERY_MS = 100
const WIDTH_MAX = 160
const LIVE_MAX = 12
const NAME_WIDTH_MIN = 8
const NAME_WIDTH_MAX = 32

export function createScreen(options: ScreenOptions): Screen {
  const { stream } = options
  const isTerminal = stream.isTTY === true
  const paint = colors.createColors(options.color)
  const nameWidth = Math.min(NAME_WIDTH_MAX, Math.max(NAME_WIDTH_MIN, options.nameWidth))
  const live = new Set<Visit>()
  let drawn = 0

  const lineOf = (visit: Visit): string =>
    visitLine(visit, {
      paint,
      nameWidth,
      width: Math.min(WIDTH_MAX, stream.columns ?? WIDTH_MAX),
      nowMs: options.now(),
    })

  function erase(): string {
    const up = drawn === 0 ? '' : `\x1b[${drawn}A\x1b[J`
    drawn = 0
    return up
  }

  function drawLive(): string {
    const shown = [...live].slice(0, LIVE_MAX).map((visit) => `${lineOf(visit)}\n`)
    if (live.size > LIVE_MAX) shown.push(paint.dim(`  … and ${live.size - LIVE_MAX} more under way\n`))
    drawn = shown.length
    return shown.join('')
  }

  function write(lines: readonly string[]): void {
    const text = lines.map((line) => `${line}\n`).join('')
    stream.write(isTerminal ? `${erase()}${text}${drawLive()}` : text)
  }

  const timer = isTerminal
    ? setInterval(() => {
        if (live.size > 0) write([])
      }, DRAW_EVERY_MS)
    : undefined

  return {
    show: (visit) => {
      if (visit.state === 'running') {
        live.add(visit)
        return
      }
      live.delete(visit)
      write([lineOf(visit)])
    },
    line: (text) => write([text]),
    close: () => {
      clearInterval(timer)
      if (isTerminal && drawn > 0) stream.write(erase())
    },
  }
}
