// The life of a run as a bar, and a handle to take hold of any moment. What it shows follows the handle without a question.
import { useMemo, useRef } from 'preact/hooks'
import { useKeys } from '../../lib/keys'
import { whole } from '../../lib/time'
import { type Axis, keepInView, panBy, positionOf, showAll, showNextAxis, view, zoomBy } from './axis'
import { Counters } from './Counters'
import { countedOf, countsAt, countsTold } from './counts'
import { moveTo, pin, positionAt, togglePin } from './cursor'
import { type Density, densityOf, drawDensity } from './drawDensity'
import { choose, dotsOf, nextOf, positionsWhere } from './life'
import { togglePlay, usePlay } from './play'
import { Scale } from './Scale'
import { ScrubBar } from './ScrubBar'
import type { Slice } from './slices'
import { FAILED_FLAG, hasFlag, momentAt, type RunTape, seek } from './tape'
import { useCanvas } from './useCanvas'

const HEIGHT = 52
const ZOOM = 0.5
const PAN = 0.25

interface ScrubberProps {
  run: RunTape
  axis: Axis
  position: number
  /** What the daemon has told of it: an overview itself does not know. */
  slice: Slice | undefined
  /** Their positions. */
  snapshots: readonly number[]
  /** Positions of the events of what was chosen, if anything was. */
  life: Uint32Array | undefined
}

export function Scrubber({ run, axis, position, slice, snapshots, life }: ScrubberProps) {
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
  const moment = run.isCoarse ? slice?.moment : momentAt(run, position)
  const counted = useMemo(() => countedOf(run), [run])
  const told = useMemo(() => countsTold(slice?.counts['commands'] ?? {}), [slice])
  const counts = run.isCoarse ? told : countsAt(counted, position)
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
  const failures = useMemo(
    () => positionsWhere(length, (index) => hasFlag(columns['flags']![index]!, FAILED_FLAG)),
    [run],
  )
  const toFailure = (by: 1 | -1): void => go(nextOf(failures, here(), by))
  const isSameStep = (index: number): boolean => columns['step']![index] === columns['step']![here() - 1]
  const alongLife = (by: 1 | -1): number | undefined =>
    life === undefined ? seek(run, here(), by, isSameStep) : nextOf(life, here(), by)
  useKeys({
    ArrowLeft: (event) => go(here() - (event.shiftKey ? 10 : 1)),
    ArrowRight: (event) => go(here() + (event.shiftKey ? 10 : 1)),
    PageUp: () => goScreens(-1),
    PageDown: () => goScreens(1),
    Home: () => go(0),
    End: () => go(length),
    n: () => toFailure(1),
    p: () => toFailure(-1),
    '[': () => go(alongLife(-1)),
    ']': () => go(alongLife(1)),
    Escape: () => choose(undefined),
    m: () => togglePin(here()),
    Space: () => togglePlay(run, here(), go),
    e: showNextAxis,
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
    position === 0
      ? 'before the first event'
      : `event ${whole(position)} of ${whole(total)}${moment === undefined ? '' : `, ${moment.type}`}${moment?.step == null ? '' : `, step ${moment.step}`}${counts === undefined ? '' : `, ${whole(counts.running)} running`}`
  return (
    <section class="scrubber" aria-label="Replay">
      <ScrubBar
        run={run}
        axis={axis}
        position={position}
        moment={moment}
        version={run.isCoarse ? slice?.version : run.tape.columns['version']![position - 1]}
        go={go}
        toFailure={failures.length === 0 ? undefined : toFailure}
      />
      <div class="scrub-grid">
        <Counters what={run.isCoarse ? 'commands' : counted.what} counts={counts} />
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
