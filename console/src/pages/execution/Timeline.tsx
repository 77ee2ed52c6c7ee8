// Steps, workers or pools as rows, and within an opened one a row for each command, loop, stage and frame. Names are text of the page, the
// bars are painted; of both only what is in sight exists.
import { useMemo, useRef, useState } from 'preact/hooks'
import { now } from '../../lib/now'
import { clockText, lasted, whole } from '../../lib/time'
import { Glyph } from '../../parts/Status'
import { type Axis, positionOf, view, zoomBy } from './axis'
import { BarTable } from './BarTable'
import { moveTo, pin } from './cursor'
import { drawBars, isInView, ROW, type Scene, spanAt } from './drawBars'
import { drawLabels } from './drawLabels'
import { chosenLanes, lanesOf } from './lanes'
import { choose, chosenEntity } from './life'
import {
  END_FLAG,
  hasFlag,
  kindAt,
  kindOfRow,
  momentAt,
  type RunTape,
  rowsInside,
  spanKey,
  spanName,
  standingWord,
  type TimelineRow,
} from './tape'
import { type Pen, useCanvas } from './useCanvas'

const SHARE_OF_SCREEN = 0.4
/** To each side: the narrowest bar can be hit. */
const REACH_PX = 4

interface TimelineProps {
  run: RunTape
  axis: Axis
  position: number
}

export function Timeline(props: TimelineProps) {
  return props.run.steps.length === 0 ? null : <Rows {...props} />
}

function Rows({ run, axis, position }: TimelineProps) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const [top, setTop] = useState(0)
  const [hint, setHint] = useState<Hint>()
  const downAt = useRef(0)
  const group = chosenLanes()
  const lanes = useMemo(() => lanesOf(run, group), [run, group])
  const inside = useMemo(
    () => new Map(lanes.filter(({ key }) => opened.has(key)).map((lane) => [lane, rowsInside(run, lane)])),
    [lanes, opened],
  )
  // Within a lane only what has a bar in sight: whoever looks nearer gets a shorter list.
  const rows = useMemo(() => {
    const isSeen = (row: TimelineRow): boolean => row.spans.some((span) => isInView(run, axis, view.value, span))
    return lanes.flatMap((lane) => [lane, ...(inside.get(lane)?.filter(isSeen) ?? [])])
  }, [lanes, inside, axis, view.value])
  const height = Math.min(rows.length * ROW, Math.max(8 * ROW, Math.round(window.innerHeight * SHARE_OF_SCREEN)))
  const chosen = chosenEntity()
  const number = useMemo(() => (chosen === undefined ? -1 : run.tape.keys().indexOf(chosen)), [run, chosen])
  const beat = useBeat(run, position)
  const scene: Scene = {
    run,
    rows,
    axis,
    view: view.value,
    position,
    pinned: pin.value,
    top: Math.min(top, rows.length * ROW - height),
    chosen: number === -1 ? undefined : number,
    beat,
  }
  const draw = (pen: Pen): void => {
    drawBars(pen, scene)
    drawLabels(pen, scene)
  }
  const canvas = useCanvas(height, draw, [rows, axis, position, pin.value, view.value, scene.top, number, beat])
  const first = Math.floor(scene.top / ROW)
  const inSight = rows.slice(first, Math.ceil((scene.top + height) / ROW))
  const pointed = (event: PointerEvent | WheelEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    const { from, to } = view.value
    const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width))
    const y = event.clientY - box.top
    return { box, y, x: share * box.width, fraction: from + share * (to - from) }
  }
  const hintAt = (event: PointerEvent): Hint | undefined => {
    const { box, x, y, fraction } = pointed(event)
    const row = rows[Math.floor((y + scene.top) / ROW)]
    const slack = (REACH_PX / box.width) * (view.value.to - view.value.from)
    const span = row === undefined ? undefined : spanAt(scene, row, fraction, slack)
    return span === undefined ? undefined : { run, span, x, y, isRight: x > box.width / 2 }
  }
  const toggle = (key: string): void => {
    const next = new Set(opened)
    if (!next.delete(key)) next.add(key)
    setOpened(next)
  }
  return (
    <section
      class="timeline"
      aria-label="Steps"
      style={{ height: `${height}px` }}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div class="timeline-space" style={{ height: `${rows.length * ROW}px` }}>
        <ol class="timeline-names">
          {inSight.map((row, index) => (
            <li key={row.key} style={{ top: `${(first + index) * ROW}px`, height: `${ROW}px` }}>
              <Name
                run={run}
                row={row}
                position={position}
                isOpen={opened.has(row.key)}
                onToggle={() => toggle(row.key)}
              />
            </li>
          ))}
        </ol>
        <div
          class="timeline-bars"
          style={{ height: `${height}px` }}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId)
            downAt.current = event.clientX
            moveTo(positionOf(axis, pointed(event).fraction), run.length)
          }}
          onPointerMove={(event) => {
            if (event.buttons > 0) moveTo(positionOf(axis, pointed(event).fraction), run.length)
            else setHint(hintAt(event))
          }}
          onPointerUp={(event) => {
            const span = Math.abs(event.clientX - downAt.current) > REACH_PX ? undefined : hintAt(event)?.span
            if (span !== undefined) choose(spanKey(run, span))
          }}
          onPointerLeave={() => setHint(undefined)}
          onWheel={(event) => {
            if (!event.ctrlKey) return
            event.preventDefault()
            zoomBy(event.deltaY > 0 ? 1.25 : 0.8, pointed(event).fraction)
          }}
        >
          <canvas ref={canvas} style={{ height: `${height}px` }} />
          {hint?.run === run && <HintBox hint={hint} position={position} />}
          <BarTable scene={scene} inSight={inSight} />
        </div>
      </div>
    </section>
  )
}

/** Seconds, while the end of a log is looked at in which something is at work; those who want nothing to move see it stand. */
function useBeat(run: RunTape, position: number): number {
  const isAtWork = useMemo(() => {
    const { begun, ended } = run.marks
    const isOver = run.tape.columns['flags']!.some((flags) => hasFlag(flags, END_FLAG))
    return !isOver && begun.some((begin, span) => begin !== 0 && ended[span] === 0)
  }, [run])
  if (!isAtWork || position < run.length || matchMedia('(prefers-reduced-motion: reduce)').matches) return 0
  return Math.floor(now.value / 1_000)
}

interface NameProps {
  run: RunTape
  row: TimelineRow
  position: number
  isOpen: boolean
  onToggle: () => void
}

function Name({ run, row, position, isOpen, onToggle }: NameProps) {
  const kind = kindOfRow(run, row, position)
  const word = standingWord(run, row.spans, kind)
  const { inside } = row
  const isChosen = chosenEntity() === row.key
  return (
    <>
      {inside !== undefined && inside > 0 ? (
        <button
          type="button"
          class="quiet twist"
          aria-expanded={isOpen}
          aria-label={`${row.name}: ${whole(inside)} inside`}
          onClick={onToggle}
        >
          {isOpen ? '▾' : '▸'}
        </button>
      ) : (
        <span class="twist" />
      )}
      <button
        type="button"
        class={`quiet row-name ${inside === undefined ? 'inner' : ''}`}
        title={`${row.name}: ${word}`}
        aria-pressed={isChosen}
        onClick={() => {
          choose(isChosen ? undefined : row.key)
          if (!isChosen) moveTo(run.marks.issued[row.spans[0]!]!, run.length)
        }}
      >
        {kind === undefined ? <i class="glyph-none" /> : <Glyph kind={kind} />}
        <span class={kind === undefined ? 'muted ellipsis' : 'ellipsis'}>{row.name}</span>
        <span class="visually-hidden">{word}</span>
        {inside !== undefined && inside > 1 && <span class="muted row-count">{whole(inside)}</span>}
      </button>
    </>
  )
}

interface Hint {
  /** The number of a bar means another one in a tape that was read further. */
  run: RunTape
  span: number
  x: number
  y: number
  isRight: boolean
}

function HintBox({ hint, position }: { hint: Hint; position: number }) {
  const { run } = hint
  const { issued, ended } = run.marks
  const from = momentAt(run, issued[hint.span]!)!
  const to = momentAt(run, ended[hint.span]!)
  const side = hint.isRight ? { right: `calc(100% - ${hint.x - 12}px)` } : { left: `${hint.x + 12}px` }
  return (
    <div class="timeline-hint" style={{ top: `${Math.max(0, hint.y - 20)}px`, ...side }}>
      <b>{spanName(run, hint.span)}</b>
      <span>{standingWord(run, [hint.span], kindAt(run, hint.span, position))}</span>
      <span class="muted">
        event {whole(issued[hint.span]!)} {to === undefined ? 'on' : `to ${whole(ended[hint.span]!)}`}
      </span>
      <span class="muted mono">
        {clockText(from.at, 3).slice(11)} {to !== undefined && `· ${lasted(to.at - from.at)}`}
      </span>
    </div>
  )
}
