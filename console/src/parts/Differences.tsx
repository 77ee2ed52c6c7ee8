// Where two values differ, as a table: the place of each difference and what stands there on either side.
import type { Difference } from '../lib/difference'
import { whole } from '../lib/time'
import { Leaf } from './JsonTree'

/** Lines of the table. */
export const SHOWN_MAX = 500

interface DifferencesProps {
  list: readonly Difference[]
  /** How many places differ, if not all of them are in the list. */
  places?: number | undefined
  /** What the two sides are called. */
  sides: readonly [string, string]
  /** What is said when there is no difference. */
  equal: string
}

export function Differences({ list, places = list.length, sides, equal }: DifferencesProps) {
  if (list.length === 0) return <div class="empty">{equal}</div>
  return (
    <div class="scroll">
      <table class="wide told changes">
        <thead>
          <tr>
            <th>Where</th>
            <th>{sides[0]}</th>
            <th>{sides[1]}</th>
          </tr>
        </thead>
        <tbody>
          {list.slice(0, SHOWN_MAX).map((one) => (
            <tr key={one.pointer}>
              <td class="mono where">{one.pointer}</td>
              <td class="mono before" data-name={sides[0]}>
                {one.from === undefined ? <i class="muted">–</i> : <Leaf value={one.from} />}
              </td>
              <td class="mono after" data-name={sides[1]}>
                {one.to === undefined ? <i class="muted">–</i> : <Leaf value={one.to} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {Math.max(list.length, places) > SHOWN_MAX && (
        <p class="muted">
          the first {whole(SHOWN_MAX)} lines; {whole(places)} places differ
        </p>
      )}
    </div>
  )
}
