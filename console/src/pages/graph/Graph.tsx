// The steps of a playbook and where they lead. Steps are buttons of the page, arrows walk along the arcs; the same is below
// it as a table. How a step stands, and which arcs were taken, is told by whoever shows a run of it.
import { useRef, useState } from 'preact/hooks'
import { whole } from '../../lib/time'
import { Glyph, type StatusKind } from '../../parts/Status'
import { entryHref } from '../catalog/entry'
import type { Placed } from './placed'
import { STEP_HEIGHT, STEP_WIDTH } from './placed'
import type { GraphArc, GraphStep, PlaybookGraph } from './playbook'
import { StepTable } from './StepTable'
import { usePlaced } from './usePlaced'

/** Of a run at a moment. */
export interface StepStanding {
  kind: StatusKind | undefined
  /** What is below the name: how far a loop is, how often it was tried, how long it took. */
  detail: string
}

export interface GraphProps {
  graph: PlaybookGraph
  standing?: (step: string) => StepStanding
  isTaken?: (arc: GraphArc) => boolean
  onChoose?: (step: string) => void
}

/** A layout of more takes seconds, and nobody can read it. */
const DRAWN_UNASKED = 200

export function Graph(props: GraphProps) {
  const { graph } = props
  const [isWanted, setWanted] = useState(graph.steps.length <= DRAWN_UNASKED)
  const { placed, hasFailed } = usePlaced(graph, isWanted)
  if (graph.steps.length === 0) return <div class="empty">This document has no workflow.</div>
  return (
    <>
      {!isWanted && (
        <div class="empty">
          <button type="button" onClick={() => setWanted(true)}>
            Draw {whole(graph.steps.length)} steps
          </button>
        </div>
      )}
      {hasFailed && <p class="notice stale">The graph could not be drawn; the table has all of it.</p>}
      {isWanted && !hasFailed && placed === undefined && <div class="skeleton" aria-busy="true" />}
      {placed !== undefined && placed.steps.length === graph.steps.length && <Drawn {...props} placed={placed} />}
      <details class="graph-table" open={!isWanted || hasFailed}>
        <summary>As a table</summary>
        <StepTable {...props} />
      </details>
    </>
  )
}

function Drawn({ graph, placed, standing, isTaken, onChoose }: GraphProps & { placed: Placed }) {
  const box = useRef<HTMLDivElement>(null)
  const walk = (event: KeyboardEvent, at: number): void => {
    const to = neighbourOf(graph, placed, at, event.key)
    if (to === undefined) return
    event.preventDefault()
    event.stopPropagation()
    box.current?.querySelectorAll<HTMLElement>('.graph-step')[to]?.focus()
  }
  return (
    <div class="graph scroll">
      <div ref={box} class="graph-space" style={{ width: `${placed.width}px`, height: `${placed.height}px` }}>
        <svg width={placed.width} height={placed.height} aria-hidden="true">
          <defs>
            <Arrow id="arrow" />
            <Arrow id="arrow-taken" />
          </defs>
          {graph.arcs.map((arc, index) => {
            const taken = isTaken?.(arc)
            return (
              <path
                // A document may name the same way twice.
                key={index}
                class={taken === undefined ? 'arc' : taken ? 'arc taken' : 'arc open'}
                d={lineOf(placed.arcs[index]!)}
                marker-end={taken === true ? 'url(#arrow-taken)' : 'url(#arrow)'}
              >
                {arc.when !== undefined && <title>{arc.when}</title>}
              </path>
            )
          })}
        </svg>
        {graph.steps.map((step, index) => (
          <div key={step.name} class="graph-place" style={boxOf(placed.steps[index]!)}>
            <Step
              step={step}
              standing={standing?.(step.name)}
              onChoose={onChoose}
              onKeyDown={(event) => walk(event, index)}
            />
            {step.calls !== undefined && (
              <a class="graph-call" href={entryHref(step.calls, { tab: 'graph' })} title={`Open ${step.calls}`}>
                <span aria-hidden="true">↗</span>
                <span class="visually-hidden">playbook {step.calls}</span>
              </a>
            )}
          </div>
        ))}
      </div>
    </div>
  )
}

/** As large for a thick line as for a thin one. */
function Arrow({ id }: { id: string }) {
  return (
    <marker
      id={id}
      viewBox="0 0 8 8"
      refX="7"
      refY="4"
      markerWidth="9"
      markerHeight="9"
      markerUnits="userSpaceOnUse"
      orient="auto"
    >
      <path d="M0 0l8 4-8 4z" />
    </marker>
  )
}

function boxOf({ x, y }: { x: number; y: number }) {
  return { left: `${x}px`, top: `${y}px`, width: `${STEP_WIDTH}px`, height: `${STEP_HEIGHT}px` }
}

interface StepProps {
  step: Pick<GraphStep, 'name' | 'tool' | 'isLoop'>
  standing: StepStanding | undefined
  onChoose: ((step: string) => void) | undefined
  onKeyDown?: (event: KeyboardEvent) => void
}

export function Step({ step, standing, onChoose, onKeyDown }: StepProps) {
  const { name, tool, isLoop } = step
  const kind = standing?.kind
  const parts = [tool, standing?.detail ?? ''].filter((part) => part !== '').join(' · ')
  return (
    <button
      type="button"
      class={`graph-step ${standing === undefined ? '' : (kind ?? 'later')}`}
      title={name}
      onClick={() => onChoose?.(name)}
      onKeyDown={onKeyDown}
    >
      {standing !== undefined && (kind === undefined ? <i class="glyph-none" /> : <Glyph kind={kind} />)}
      <span class="graph-step-text">
        <span class="graph-step-name">
          <b class="ellipsis">{name}</b>
          {isLoop && <span class="badge">loop</span>}
        </span>
        <span class="muted ellipsis" title={parts}>
          {parts}
        </span>
      </span>
      {standing !== undefined && <span class="visually-hidden">{kind ?? 'not yet'}</span>}
    </button>
  )
}

/** Down and up along the arcs, left and right within a layer. */
function neighbourOf(graph: PlaybookGraph, placed: Placed, at: number, key: string): number | undefined {
  const name = graph.steps[at]!.name
  const indexOf = (wanted: string | undefined): number | undefined => {
    const found = graph.steps.findIndex((step) => step.name === wanted)
    return found === -1 ? undefined : found
  }
  if (key === 'ArrowDown') return indexOf(graph.arcs.find(({ from }) => from === name)?.to)
  if (key === 'ArrowUp') return indexOf(graph.arcs.find(({ to }) => to === name)?.from)
  const by = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
  if (by === 0) return undefined
  const { x, y } = placed.steps[at]!
  const beside = placed.steps
    .map((place, index) => ({ index, far: (place.x - x) * by, isBeside: Math.abs(place.y - y) < 1 }))
    .filter(({ far, isBeside }) => isBeside && far > 0)
    .sort((left, right) => left.far - right.far)
  return beside[0]?.index
}

function lineOf(points: readonly { x: number; y: number }[]): string {
  const [first, ...rest] = points
  // Round where it bends: each point pulls the line towards it, the middle between two is on it.
  const curves = rest.slice(0, -1).map((point, index) => {
    const next = rest[index + 1]!
    return `Q${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`
  })
  const last = rest.at(-1)!
  return `M${first!.x} ${first!.y}${curves.join('')}L${last.x} ${last.y}`
}
