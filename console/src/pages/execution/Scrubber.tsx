// The life of a run as a bar, and a handle to take hold of any moment. What it shows follows the handle without a question.
import { useMemo, useRef } from 'preact/hooks'
import { useKeys } from '../../lib/keys'
import { ask } from '../../lib/router'
import { clockText, whole } from '../../lib/time'
import { AXES, type Axis, keepInView, panBy, positionOf, showAll, view, zoomBy } from './axis'
import { Counters } from './Counters'
import { countedOf, countsAt } from './counts'
import { isFollowing, isPlaying, moveTo, pin, positionAt, togglePin } from './cursor'
import { type Density, densityOf, drawDensity } from './drawDensity'
import { Jump } from './Jump'
import { chosenLanes, LANES } from './lanes'
import { choose, dotsOf, nextOf } from './life'
import { SPEEDS, type Speed, speed, usePlay } from './play'
import { Scale } from './Scale'
import { FAILED_FLAG, hasFlag, momentAt, type RunTape, seek } from './tape'
import { useCanvas } from './useCanvas'

const HEIGHT = 52
const ZOOM = 0.5
const PAN = 0.25

interface ScrubberProps {
  run: RunTape
  axis: Axis
  position: number
  /** Their positions. */
  snapshots: readonly number[]
  /** Positions of the events of what was chosen, if anything was. */
  life: Uint32Array | undefined
}

export function Scrubber({ run, axis, position, snapshots, life }: ScrubberProps) {
  const { length, total } = run
  const { columns } = run.tape
  const drawn = useRef<{ run: RunTape; axis: Axis; width: number; density: Density }>()
  const fraction = axis.fractions[position]!
  const dots = useMemo(() => (life === undefined ? [] : dotsOf(life, axis.fractions)), [life, axis])
  const canvas = useCanvas(
    HEIGHT,
    (pen) => {
      const known = drawn.current
      if (known === undefined || known.run !== run || known.axis !== axis || known.width !== pen.width) {
        drawn.current = { run, axis, width: pen.width, density: densityOf(run, axis, pen.width) }
      }
      const pinned = pin.value === undefined ? undefined : axis.fractions[Math.min(length, pin.value)]
      const flags = snapshots.map((at) => axis.fractions[at]!)
      drawDensity(pen, drawn.current!.density, {
        now: fraction,
        pinned,
        snapshots: flags,
        life: dots,
        view: view.value,
      })
    },
    [run, axis, position, pin.value, view.value, snapshots, dots],
  )
  const moment = momentAt(run, position)
  const counted = useMemo(() => countedOf(run), [run])
  const counts = run.isCoarse ? undefined : countsAt(counted, position)
  // How long the log was when the handle left its end.
  const leftAt = useRef(total)
  if (isFollowing()) leftAt.current = total
  const news = total - leftAt.current
  const go = (to: number | undefined): void => {
    if (to === undefined) return
    moveTo(to, length)
    keepInView(axis.fractions[Math.max(0, Math.min(length, to))]!)
  }
  // Keys come faster than the page is drawn.
  const here = (): number => positionAt(length)
  const goScreens = (by: number): void => {
    const { from, to } = view.value
    go(positionOf(axis, Math.max(0, Math.min(1, axis.fractions[here()]! + by * (to - from)))))
  }
  const isFailure = (index: number): boolean => hasFlag(columns['flags']![index]!, FAILED_FLAG)
  const isSameStep = (index: number): boolean => columns['step']![index] === columns['step']![here() - 1]
  const alongLife = (by: 1 | -1): number | undefined =>
    life === undefined ? seek(run, here(), by, isSameStep) : nextOf(life, here(), by)
  const nextAxis = (): void => {
    const next = AXES[(AXES.indexOf(axis.kind) + 1) % AXES.length]!
    ask({ axis: next === 'event' ? undefined : next }, { replace: true })
  }
  const togglePlay = (): void => {
    isPlaying.value = !isPlaying.value
  }
  useKeys({
    ArrowLeft: (event) => go(here() - (event.shiftKey ? 10 : 1)),
    ArrowRight: (event) => go(here() + (event.shiftKey ? 10 : 1)),
    PageUp: () => goScreens(-1),
    PageDown: () => goScreens(1),
    Home: () => go(0),
    End: () => go(length),
    n: () => go(seek(run, here(), 1, isFailure)),
    p: () => go(seek(run, here(), -1, isFailure)),
    '[': () => go(alongLife(-1)),
    ']': () => go(alongLife(1)),
    Escape: () => choose(undefined),
    m: () => togglePin(here()),
    Space: togglePlay,
    e: nextAxis,
    w: () => zoomBy(ZOOM, axis.fractions[here()]!),
    s: () => zoomBy(1 / ZOOM, axis.fractions[here()]!),
    a: () => panBy(-PAN),
    d: () => panBy(PAN),
    '0': showAll,
  })
  usePlay(run, position, go)
  const fromPointer = (event: PointerEvent): void => {
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect()
    go(positionOf(axis, Math.max(0, Math.min(1, (event.clientX - left) / width))))
  }
  const text =
    moment === undefined
      ? 'before the first event'
      : `event ${whole(position)} of ${whole(total)}, ${moment.type}${moment.step === null ? '' : `, step ${moment.step}`}, ${counts?.running ?? 0} running`
  const version = columns['version']![position - 1]
  return (
    <section class="scrubber" aria-label="Replay">
      <div class="scrub-bar">
        <button
          type="button"
          class="play"
          aria-label={isPlaying.value ? 'Stop' : 'Play'}
          title="Play or stop (Space)"
          onClick={togglePlay}
        >
          <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
            <path d={isPlaying.value ? 'M4 3h3v10H4zM9 3h3v10H9z' : 'M4 2.5v11l9-5.5z'} fill="currentColor" />
          </svg>
        </button>
        <select
          aria-label="Speed of playing"
          value={speed.value}
          onChange={(event) => {
            speed.value = event.currentTarget.value as Speed
            event.currentTarget.blur()
          }}
        >
          {Object.entries(SPEEDS).map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
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
              <span class="muted mono" title={clockText(moment.at, 3)}>
                {clockText(moment.at, 3).slice(11)}
              </span>
              {version !== undefined && version !== 0 && version !== position && (
                <span class="muted">version {whole(version)}</span>
              )}
              {moment.isLate && <span class="waiting">arrived late</span>}
            </>
          )}
        </span>
        <span class="scrub-tools">
          <Jump run={run} go={go} />
          {!isFollowing() && (
            <button type="button" onClick={() => go(length)}>
              {news > 0 ? `+${whole(news)} events, jump to now` : 'Jump to now'}
            </button>
          )}
          <button
            type="button"
            aria-pressed={pin.value !== undefined}
            title="Compare with this moment (m)"
            onClick={() => togglePin(position)}
          >
            {pin.value === undefined ? 'Pin' : `Pinned at ${whole(pin.value)}`}
          </button>
          <select
            aria-label="Rows"
            value={chosenLanes()}
            onChange={({ currentTarget }) => {
              ask({ lanes: currentTarget.value === 'step' ? undefined : currentTarget.value }, { replace: true })
              currentTarget.blur()
            }}
          >
            {Object.entries(LANES).map(([id, name]) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
          <button
            type="button"
            title="Axis by event, by time, or by time at work: pauses shortened (e)"
            onClick={nextAxis}
          >
            by {axis.kind}
          </button>
        </span>
      </div>
      <div class="scrub-grid">
        <Counters what={counted.what} counts={counts} />
        <div
          class="scrub-track"
          role="slider"
          tabIndex={0}
          aria-label="Position in the log"
          aria-valuemin={0}
          aria-valuemax={length}
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
        <Scale run={run} axis={axis} />
        {snapshots.length > 0 && (
          <span class="visually-hidden">Snapshots after event {[...new Set(snapshots)].map(whole).join(', ')}</span>
        )}
      </div>
    </section>
  )
}
