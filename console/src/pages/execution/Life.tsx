// What was chosen in the timeline, and every event of its life in order, with times; worked out from the tape.
import { counted } from '../../lib/counted'
import { clockText, lasted, whole } from '../../lib/time'
import { VirtualRows } from '../../parts/VirtualRows'
import { moveTo } from './cursor'
import { Iterations } from './Iterations'
import { choose } from './life'
import { entityName, momentAt, type RunTape } from './tape'

const ROW_HEIGHT = 28
const ROWS_SHOWN = 8

interface LifeProps {
  run: RunTape
  entity: string
  /** Undefined: this log knows no such thing. */
  life: Uint32Array | undefined
  position: number
}

export function Life({ run, entity, life, position }: LifeProps) {
  const name = entityName(run, entity)
  const first = momentAt(run, life?.[0] ?? 0)
  const last = momentAt(run, life?.at(-1) ?? 0)
  return (
    <section class="life" aria-label={`Life of ${name}`}>
      <div class="life-head">
        <h2>{name}</h2>
        {first === undefined || last === undefined ? (
          <span class="muted">has no event in this log</span>
        ) : (
          <span class="muted">
            {counted(life!.length, 'event')} in {lasted(last.at - first.at)}
          </span>
        )}
        <button type="button" class="quiet" aria-label="Show everything again" onClick={() => choose(undefined)}>
          ✕
        </button>
      </div>
      <Iterations run={run} entity={entity} position={position} />
      {first !== undefined && (
        <div style={{ '--shown': `${Math.min(ROWS_SHOWN, life!.length) * ROW_HEIGHT + 2}px` }}>
          <VirtualRows
            label={`Events of ${name}`}
            subject={entity}
            total={life!.length}
            height={ROW_HEIGHT}
            shown={life!.findLastIndex((at) => at <= position)}
            row={(_, index) => <LifeRow run={run} at={life![index]!} firstAt={first.at} position={position} />}
          />
        </div>
      )}
    </section>
  )
}

interface LifeRowProps {
  run: RunTape
  at: number
  firstAt: number
  position: number
}

function LifeRow({ run, at, firstAt, position }: LifeRowProps) {
  const moment = momentAt(run, at)
  if (moment === undefined) return null
  const { head, columns } = run.tape
  const [status, worker] = [head.statuses[columns['status']![at - 1]!], head.workers[columns['worker']![at - 1]!]]
  return (
    <button
      type="button"
      class={at > position ? 'event-row later' : 'event-row'}
      aria-current={at === position}
      onClick={(event) => {
        moveTo(at, run.length)
        if (event.detail > 0) event.currentTarget.blur()
      }}
    >
      <span class="number muted">{whole(at)}</span>
      <span class="mono">{clockText(moment.at, 3).slice(11)}</span>
      <span class={moment.isFailure ? 'failed' : ''}>{moment.type}</span>
      <span class="ellipsis">{moment.step}</span>
      <span class="muted ellipsis">{status?.toLowerCase()}</span>
      <span class="muted ellipsis">
        +{lasted(moment.at - firstAt)} {worker}
      </span>
    </button>
  )
}
