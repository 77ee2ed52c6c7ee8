// Every step of two runs in one table: how it ended, how long it took, and how it stands at the cursor.
import { lasted, whole } from '../../lib/time'
import { Glyph, Status } from '../../parts/Status'
import { kindOfRow, type RunTape } from '../execution/tape'
import type { AlignedStep, StepOutcome } from './alignment'

interface StepsProps {
  steps: readonly AlignedStep[]
  a: RunTape
  b: RunTape
  positions: readonly [number, number]
  /** A step that the first run has. */
  onChoose: (name: string) => void
}

export function Steps({ steps, a, b, positions, onChoose }: StepsProps) {
  return (
    <div class="scroll">
      <table class="wide rows">
        <thead>
          <tr>
            <th>Step</th>
            <th>In A</th>
            <th>In B</th>
            <th class="number">Lasted in A</th>
            <th class="number">in B</th>
            <th class="number">B to A</th>
            <th>At the cursor</th>
          </tr>
        </thead>
        <tbody>
          {steps.map(({ name, a: ofA, b: ofB, isDifferent }) => (
            <tr key={name} class={isDifferent ? 'different' : ''}>
              <td class="ellipsis main" title={name}>
                {ofA === undefined ? (
                  name
                ) : (
                  <button type="button" class="link" title="Cursor to its end in A" onClick={() => onChoose(name)}>
                    {name}
                  </button>
                )}
                {isDifferent && <span class="muted"> different</span>}
              </td>
              <td data-name="In A">
                <Outcome outcome={ofA} />
              </td>
              <td data-name="In B">
                <Outcome outcome={ofB} />
              </td>
              <td class="number" data-name="Lasted in A">
                {ofA?.lastedMs === undefined ? '–' : lasted(ofA.lastedMs)}
              </td>
              <td class="number" data-name="in B">
                {ofB?.lastedMs === undefined ? '–' : lasted(ofB.lastedMs)}
              </td>
              <td class="number" data-name="B to A">
                {changeOf(ofA?.lastedMs, ofB?.lastedMs)}
              </td>
              <td>
                <Here name="A" run={a} step={name} position={positions[0]} />{' '}
                <Here name="B" run={b} step={name} position={positions[1]} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Here({ name, run, step, position }: { name: string; run: RunTape; step: string; position: number }) {
  const row = run.steps.find((one) => one.name === step)
  const kind = row === undefined ? undefined : kindOfRow(run, row, position)
  return (
    <span class={`status ${kind ?? 'muted'}`} title={`${name}: ${kind ?? 'not yet'}`}>
      {name} {kind === undefined ? '–' : <Glyph kind={kind} />}
      <span class="visually-hidden">{kind ?? 'not yet'}</span>
    </span>
  )
}

function Outcome({ outcome }: { outcome: StepOutcome | undefined }) {
  if (outcome?.kind === undefined) return <span class="muted">not there</span>
  return (
    <>
      <Status status={outcome.kind} kind={outcome.kind} />{' '}
      {outcome.commands > 1 && (
        <span class="muted">
          {whole(outcome.commands)} commands{outcome.failed > 0 && `, ${whole(outcome.failed)} failed`}
        </span>
      )}
    </>
  )
}

function changeOf(a: number | undefined, b: number | undefined): string {
  if (a === undefined || b === undefined) return '–'
  return a === b ? 'equal' : b > a ? `+${lasted(b - a)}` : `−${lasted(a - b)}`
}
