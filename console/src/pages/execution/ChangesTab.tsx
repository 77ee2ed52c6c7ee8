// What is different at the cursor: against the event before, or against the moment that is pinned.
import { apiPath } from '../../lib/api'
import { getJson, type Json } from '../../lib/losslessJson'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Leaf } from '../../parts/JsonTree'
import { Panel } from '../../parts/Panel'
import { useRested } from './useRested'

interface Difference {
  pointer: string
  kind: string
  from?: Json
  to?: Json
}

const SHOWN_MAX = 500

export function ChangesTab(props: { executionId: string; from: string | undefined; to: string | undefined }) {
  const wanted = useRested(`${props.from ?? ''} ${props.to ?? ''}`)
  const [from, to] = wanted.split(' ') as [string, string]
  const path = apiPath('/api/replay/diff', { execution_id: props.executionId, from, to, ids: 'number' })
  const diff = useResource(from === '' || to === '' ? null : path, (signal) => getJson(path, signal))
  if (props.from === undefined || props.to === undefined) {
    return <div class="empty">There is nothing before the first event to compare with.</div>
  }
  const listOf = (answer: Json): Difference[] => (answer as unknown as { differences: Difference[] }).differences
  return (
    <Panel
      resource={diff}
      lines={8}
      isEmpty={(answer) => listOf(answer).length === 0}
      empty={<p>Both states are equal.</p>}
    >
      {(answer) => (
        <div class="scroll">
          <table class="wide changes">
            <thead>
              <tr>
                <th>Where</th>
                <th>Before</th>
                <th>After</th>
              </tr>
            </thead>
            <tbody>
              {listOf(answer)
                .slice(0, SHOWN_MAX)
                .map((one) => (
                  <tr key={one.pointer}>
                    <td class="mono">{one.pointer}</td>
                    <td class="mono before">
                      {one.from === undefined ? <i class="muted">–</i> : <Leaf value={one.from} />}
                    </td>
                    <td class="mono after">
                      {one.to === undefined ? <i class="muted">–</i> : <Leaf value={one.to} />}
                    </td>
                  </tr>
                ))}
            </tbody>
          </table>
          {listOf(answer).length > SHOWN_MAX && (
            <p class="muted">
              first {SHOWN_MAX} of {whole(listOf(answer).length)} differences
            </p>
          )}
        </div>
      )}
    </Panel>
  )
}
