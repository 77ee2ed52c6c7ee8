// The playbook of a run, with every step as it stands at the handle. It is worked out from the tape, without a question.
import { useMemo } from 'preact/hooks'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { loadEntry } from '../catalog/entry'
import { moveTo } from '../execution/cursor'
import { choose } from '../execution/life'
import type { RunTape } from '../execution/tape'
import type { ExecutionSummary } from '../executions/summary'
import { Graph, Step, type StepStanding } from './Graph'
import { graphOf } from './playbook'
import { claimsOf, standingOf } from './standing'
import { arcsTaken } from './taken'

/** Of steps that the playbook does not have. */
const APART_MAX = 50

interface GraphTabProps {
  run: ExecutionSummary
  tape: RunTape
  position: number
}

export function GraphTab({ run, tape, position }: GraphTabProps) {
  const entry = useResource(`graph of ${run.catalog_id}`, (signal) => loadEntry({ catalog_id: run.catalog_id }, signal))
  return (
    <Panel resource={entry} lines={6}>
      {({ layout, version }) => <RunGraph layout={layout} version={version} tape={tape} position={position} />}
    </Panel>
  )
}

interface RunGraphProps {
  layout: unknown
  version: number
  tape: RunTape
  position: number
}

function RunGraph({ layout, version, tape, position }: RunGraphProps) {
  const graph = useMemo(() => graphOf(layout), [layout])
  const rows = useMemo(() => new Map(tape.steps.map((row) => [row.name, row])), [tape])
  const taken = useMemo(() => arcsTaken(tape, rows, graph), [tape, rows, graph])
  const claims = useMemo(() => claimsOf(tape), [tape])
  const known = new Set(graph.steps.map(({ name }) => name))
  const strange = tape.steps.filter(({ name, spans }) => !known.has(name) && spans.length > 0)
  const standing = (step: string): StepStanding => standingOf(tape, rows.get(step), position, claims.get(step))
  const show = (step: string): void => {
    const row = rows.get(step)
    if (row === undefined) return
    choose(row.key)
    moveTo(tape.marks.issued[row.spans[0]!]!, tape.length)
  }
  return (
    <>
      <Graph
        graph={graph}
        standing={standing}
        isTaken={(arc) => (taken.get(arc) ?? Number.POSITIVE_INFINITY) <= position}
        onChoose={show}
      />
      {strange.length > 0 && (
        <section class="graph-apart" aria-label={`Not in version ${version}`}>
          <h3>Not in version {version}</h3>
          {strange.slice(0, APART_MAX).map(({ name }) => (
            <div key={name} class="graph-place">
              <Step step={{ name, tool: '', isLoop: false }} standing={standing(name)} onChoose={show} />
            </div>
          ))}
          {strange.length > APART_MAX && <p class="muted">and {whole(strange.length - APART_MAX)} more</p>}
        </section>
      )}
    </>
  )
}
