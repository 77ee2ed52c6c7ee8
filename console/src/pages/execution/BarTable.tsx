// The painted bars for those who hear the page: the rows in sight with their bars, statuses and times. Made when the timeline
// rests, so that a frame of a drag costs nothing more, and never more than a few hundred lines.
import { useMemo } from 'preact/hooks'
import { zone } from '../../lib/theme'
import { clockText, lasted, whole } from '../../lib/time'
import { useRested } from '../../lib/useRested'
import { isInView, type Scene } from './drawBars'
import { kindAt, momentAt, spanName, standingWord, type TimelineRow } from './tape'

const REST_MS = 250
/** Shared by the rows in sight, each of which gets one at least. */
const BARS_MAX = 200

export function BarTable({ scene, inSight }: { scene: Scene; inSight: readonly TimelineRow[] }) {
  const { run, axis, view, position } = scene
  const now = useMemo(() => ({ scene, inSight }), [run, axis, view, position, scene.rows, scene.top])
  const rested = useRested(now, REST_MS)
  return useMemo(() => tableOf(rested.scene, rested.inSight), [rested, zone.value])
}

function tableOf(scene: Scene, inSight: readonly TimelineRow[]) {
  const share = Math.max(1, Math.floor(BARS_MAX / inSight.length))
  return (
    <div class="visually-hidden">
      <table>
        <caption>Bars in sight</caption>
        <thead>
          <tr>
            <th>Row</th>
            <th>Bar</th>
            <th>Status</th>
            <th>From</th>
            <th>Lasted</th>
          </tr>
        </thead>
        {inSight.map((row) => {
          const bars = row.spans.filter((span) => isInView(scene.run, scene.axis, scene.view, span))
          return (
            <tbody key={row.name}>
              {bars.slice(0, share).map((span) => (
                <Bar key={span} scene={scene} row={row} span={span} />
              ))}
              {bars.length > share && (
                <tr>
                  <th scope="row">{row.name}</th>
                  <td colSpan={4}>{whole(bars.length - share)} more: look nearer (w) to hear them</td>
                </tr>
              )}
            </tbody>
          )
        })}
      </table>
    </div>
  )
}

function Bar({ scene: { run, position }, row, span }: { scene: Scene; row: TimelineRow; span: number }) {
  const from = momentAt(run, run.marks.issued[span]!)!
  const to = momentAt(run, run.marks.ended[span]!)
  return (
    <tr>
      <th scope="row">{row.name}</th>
      <td>{spanName(run, span)}</td>
      <td>{standingWord(run, [span], kindAt(run, span, position))}</td>
      <td>{clockText(from.at, 3)}</td>
      <td>{to === undefined ? 'goes on' : lasted(to.at - from.at)}</td>
    </tr>
  )
}
