// The graph as text: every step, how it stands, and where it leads under which condition.
import { Status } from '../../parts/Status'
import { entryHref } from '../catalog/entry'
import type { GraphProps } from './Graph'

export function StepTable({ graph, standing }: GraphProps) {
  return (
    <div class="scroll">
      <table class="wide rows">
        <thead>
          <tr>
            <th>Step</th>
            <th>Tool</th>
            {standing !== undefined && <th>Status</th>}
            <th>Leads to</th>
          </tr>
        </thead>
        <tbody>
          {graph.steps.map((step) => (
            <tr key={step.name}>
              <td class="prose">{step.name}</td>
              <td>
                {step.tool}
                {step.isLoop && ' in a loop'}{' '}
                {step.calls !== undefined && <a href={entryHref(step.calls)}>{step.calls}</a>}
              </td>
              {standing !== undefined && <Standing {...standing(step.name)} />}
              <td class="leads prose" data-name="Leads to">
                {graph.arcs
                  .filter(({ from }) => from === step.name)
                  .map(({ to, when }, index) => (
                    <span key={index}>
                      {to}
                      {when !== undefined && (
                        <>
                          {' '}
                          <span class="muted">if</span> <code>{when}</code>
                        </>
                      )}
                    </span>
                  ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Standing({ kind, detail }: ReturnType<NonNullable<GraphProps['standing']>>) {
  return (
    <td>
      {kind === undefined ? <span class="muted">not yet</span> : <Status status={kind} kind={kind} />}{' '}
      <span class="muted">{detail}</span>
    </td>
  )
}
