// The life of a run as a bar: how dense its events are, where it failed, and a handle to take hold of any moment.
import { useEffect } from 'preact/hooks'
import { useKeys } from '../../lib/keys'
import { ask, query } from '../../lib/router'
import { colorOf } from '../../lib/theme'
import { clockText, whole } from '../../lib/time'
import type { Axis } from './axis'
import { isFollowing, isPlaying, moveTo, pin, pinAt, positionAt } from './cursor'
import type { Moment, RunRecord } from './record'
import { type Pen, useCanvas } from './useCanvas'

const HEIGHT = 44
const CELL = 3

export function Scrubber({ record, axis, total }: { record: RunRecord; axis: Axis; total: number }) {
  const { moments } = record
  const position = positionAt(moments.length)
  const canvas = useCanvas(HEIGHT, (pen) => drawDensity(pen, record, axis, position), [
    record,
    axis,
    position,
    pin.value,
  ])
  const moment = moments[position - 1]
  const go = (to: number): void => moveTo(to, moments)
  /** The next event of a kind in one direction, if there is one. */
  const seek = (by: 1 | -1, isWanted: (moment: Moment) => boolean): void => {
    let at = position + by
    while (at >= 1 && at <= moments.length && !isWanted(moments[at - 1]!)) at += by
    if (at >= 1 && at <= moments.length) go(at)
  }
  const isSameStep = (other: Moment): boolean => other.step === moment?.step
  useKeys({
    ArrowLeft: (event) => go(position - (event.shiftKey ? 10 : 1)),
    ArrowRight: (event) => go(position + (event.shiftKey ? 10 : 1)),
    Home: () => go(0),
    End: () => go(moments.length),
    n: () => seek(1, (one) => one.isFailure),
    p: () => seek(-1, (one) => one.isFailure),
    '[': () => seek(-1, isSameStep),
    ']': () => seek(1, isSameStep),
    m: () => pinAt(pin.value === undefined ? position : undefined, moments),
    Space: () => {
      isPlaying.value = !isPlaying.value
    },
    e: () => ask({ axis: query.value.get('axis') === 'time' ? undefined : 'time' }, { replace: true }),
  })
  usePlay(position, moments.length, go)
  const fromPointer = (event: PointerEvent): void => {
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect()
    go(axis.positionAt(Math.max(0, Math.min(1, (event.clientX - left) / width))))
  }
  const text =
    moment === undefined
      ? 'before the first event'
      : `event ${whole(position)} of ${whole(total)}, ${moment.type}${moment.step === null ? '' : `, step ${moment.step}`}`
  return (
    <section class="scrubber" aria-label="Replay">
      <div class="scrub-bar">
        <button
          type="button"
          aria-label={isPlaying.value ? 'Stop' : 'Play'}
          title="Play or stop (Space)"
          onClick={() => {
            isPlaying.value = !isPlaying.value
          }}
        >
          {isPlaying.value ? '❚❚' : '▶'}
        </button>
        <span class="scrub-place">
          <b>{whole(position)}</b> <span class="muted">of {whole(total)}</span>
        </span>
        <span class="scrub-event">
          {moment === undefined ? (
            <span class="muted">before the first event</span>
          ) : (
            <>
              <span class={moment.isFailure ? 'failed' : ''}>{moment.type}</span>
              {moment.step !== null && <b>{moment.step}</b>}
              <span class="muted mono">{clockText(moment.at, 3)}</span>
              {moment.isLate && <span class="waiting">arrived late</span>}
            </>
          )}
        </span>
        <span class="scrub-tools">
          {!isFollowing() && (
            <button type="button" onClick={() => go(moments.length)}>
              Jump to now
            </button>
          )}
          <button
            type="button"
            aria-pressed={pin.value !== undefined}
            title="Compare with this moment (m)"
            onClick={() => pinAt(pin.value === undefined ? position : undefined, moments)}
          >
            {pin.value === undefined ? 'Pin' : `Pinned at ${whole(pin.value)}`}
          </button>
          <button
            type="button"
            title="Axis by event or by time (e)"
            onClick={() => ask({ axis: query.value.get('axis') === 'time' ? undefined : 'time' }, { replace: true })}
          >
            {query.value.get('axis') === 'time' ? 'by time' : 'by event'}
          </button>
        </span>
      </div>
      <div
        class="scrub-track"
        role="slider"
        tabIndex={0}
        aria-label="Position in the log"
        aria-valuemin={0}
        aria-valuemax={moments.length}
        aria-valuenow={position}
        aria-valuetext={text}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          fromPointer(event)
        }}
        onPointerMove={(event) => event.buttons > 0 && fromPointer(event)}
      >
        <canvas ref={canvas} style={{ height: `${HEIGHT}px` }} />
      </div>
    </section>
  )
}

/** About ten seconds for the whole run, but never more than sixty steps a second nor fewer than two. */
function usePlay(position: number, total: number, go: (to: number) => void): void {
  useEffect(() => {
    if (!isPlaying.value) return
    if (position >= total) {
      isPlaying.value = false
      return
    }
    const perSecond = Math.max(2, total / 10)
    const step = Math.max(1, Math.round(perSecond / 20))
    const timer = setTimeout(() => go(position + step), (1_000 * step) / perSecond)
    return () => clearTimeout(timer)
  }, [position, total, isPlaying.value])
}

function drawDensity({ context, width, height }: Pen, { moments }: RunRecord, axis: Axis, position: number): void {
  const cells = Math.ceil(width / CELL)
  const counts = new Uint32Array(cells)
  const failures = new Uint8Array(cells)
  moments.forEach((moment, index) => {
    const cell = Math.min(cells - 1, Math.floor(axis.fractionOf(index + 1) * (cells - 1)))
    counts[cell]! += 1
    if (moment.isFailure) failures[cell] = 1
  })
  const most = Math.max(1, ...counts)
  context.fillStyle = colorOf('surface')
  context.fillRect(0, 0, width, height)
  const now = axis.fractionOf(position) * width
  const [past, later, failed] = [colorOf('accent'), colorOf('line'), colorOf('failed')]
  for (let cell = 0; cell < cells; cell++) {
    if (counts[cell] === 0) continue
    const tall = Math.max(3, Math.sqrt(counts[cell]! / most) * (height - 16))
    context.fillStyle = cell * CELL <= now ? past : later
    context.fillRect(cell * CELL, height - tall, CELL - 1, tall)
    if (failures[cell] === 1) {
      context.fillStyle = failed
      context.fillRect(cell * CELL - 1, 0, CELL + 1, 7)
    }
  }
  const mark = (at: number, color: string): void => {
    const x = Math.min(width - 1, Math.max(1, at))
    context.fillStyle = color
    context.fillRect(x - 1, 0, 2, height)
    context.beginPath()
    context.arc(x, 7, 5, 0, 2 * Math.PI)
    context.fill()
  }
  if (pin.value !== undefined) mark(axis.fractionOf(pin.value) * width, colorOf('stuck'))
  mark(now, colorOf('ink'))
}
