// Dead rows come back: first what it would do, then why, then what became of them.

import { useSignal } from '@preact/signals'
import { ApiError, get, send } from '../../lib/api'
import { useKeys } from '../../lib/keys'
import { whyNotOperator } from '../../lib/session'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Confirm } from '../../parts/Confirm'
import { Dialog } from '../../parts/Dialog'
import { Panel } from '../../parts/Panel'
import { Status } from '../../parts/Status'
import { keyOf, type OutboxRow } from './outbox'

/** Rows by `shard-id`, or by a part of their reason; without either all that are dead. */
export interface RequeueScope {
  keys?: readonly string[]
  reason?: string
}

interface RequeueProps {
  name: string
  scope: RequeueScope
  hotkey?: string
  onDone: () => void
}

interface Redriven {
  matched: number
  done: number
  more: boolean
  sample: OutboxRow[]
}

const ROWS_MAX = 100_000

export function Requeue(props: RequeueProps) {
  const isOpen = useSignal(false)
  const why = whyNotOperator.value
  const open = (): void => {
    isOpen.value = why === undefined
  }
  useKeys(props.hotkey === undefined ? {} : { [props.hotkey]: open })
  return (
    <>
      <button type="button" disabled={why !== undefined} title={why ?? 'First shows what it would do'} onClick={open}>
        {props.name}…
      </button>
      {isOpen.value && (
        <RequeueDialog
          {...props}
          onClose={() => {
            isOpen.value = false
            props.onDone()
          }}
        />
      )}
    </>
  )
}

function RequeueDialog({ name, scope, onClose }: RequeueProps & { onClose: () => void }) {
  const outcome = useSignal<Redriven | undefined>(undefined)
  const plan = useResource(`dry run of ${JSON.stringify(scope)}`, () =>
    redrive(scope, { dry_run: true, note: 'dry run' }),
  )
  return (
    <Dialog title={name} onClose={onClose}>
      {outcome.value === undefined ? (
        <Panel
          resource={plan}
          isEmpty={({ matched }) => matched === 0}
          empty={<p>No dead row matches any more: nothing is left to bring back.</p>}
        >
          {(planned) => (
            <Plan
              planned={planned}
              scope={scope}
              onClose={onClose}
              onDone={(result) => {
                outcome.value = result
              }}
            />
          )}
        </Panel>
      ) : (
        <Outcome result={outcome.value} />
      )}
      {(outcome.value !== undefined || plan.data === undefined || plan.data.matched === 0) && (
        <div class="buttons section">
          <button type="button" onClick={onClose}>
            Close
          </button>
        </div>
      )}
    </Dialog>
  )
}

interface PlanProps {
  planned: Redriven
  scope: RequeueScope
  onClose: () => void
  onDone: (result: Redriven) => void
}

function Plan({ planned, scope, onClose, onDone }: PlanProps) {
  const reason = useSignal('')
  const isBusy = useSignal(false)
  const refusal = useSignal<string | undefined>(undefined)
  const rows = rowsText(planned.matched, planned.more)
  const run = async (): Promise<void> => {
    isBusy.value = true
    refusal.value = undefined
    try {
      onDone(await redrive(scope, { note: reason.value.trim() }))
    } catch (error) {
      refusal.value = error instanceof ApiError ? error.message : String(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <>
      <p>
        Dry run: {rows} would come back and be published again from the first attempt. Nothing is changed yet.
        {scope.reason !== undefined && <> They are those whose reason contains “{scope.reason}”.</>}
      </p>
      <SampleTable rows={planned.sample} total={planned.matched} />
      <label class="field">
        Reason
        <input
          type="text"
          maxLength={500}
          placeholder="for the record: why now"
          value={reason.value}
          onInput={(event) => {
            reason.value = event.currentTarget.value
          }}
        />
      </label>
      <Confirm
        act={`Requeue ${rows}`}
        refusal={refusal.value}
        isBusy={isBusy.value}
        isReady={reason.value.trim() !== ''}
        onAct={run}
        onClose={onClose}
      />
    </>
  )
}

/** The first rows are watched: one that dies again says so here. */
function Outcome({ result }: { result: Redriven }) {
  const watched = useResource(
    `outcome of ${result.sample.map(keyOf).join(' ')}`,
    (signal) => Promise.all(result.sample.map((row) => presentOf(row, signal))),
    { everyMs: 2_000, topics: ['outbox'] },
  )
  return (
    <>
      <p role="status">
        {rowsText(result.done, false)} came back
        {result.done < result.matched ? `; ${whole(result.matched - result.done)} were not dead any more` : ''}.
        {result.more && ' More are left: requeue again.'}
      </p>
      <Panel resource={watched}>{(rows) => <SampleTable rows={rows} total={result.done} isOutcome />}</Panel>
    </>
  )
}

async function presentOf(row: OutboxRow, signal: AbortSignal): Promise<OutboxRow> {
  try {
    return await get<OutboxRow>(`/api/internal/outbox/rows/${row.outbox_id}?shard=${row.shard}`, signal)
  } catch (error) {
    // Published rows are cleaned up after a while.
    if (error instanceof ApiError && error.status === 404) return { ...row, status: 'PUBLISHED', last_error: null }
    throw error
  }
}

function SampleTable(props: { rows: readonly OutboxRow[]; total: number; isOutcome?: boolean }) {
  const { rows, total, isOutcome = false } = props
  return (
    <div class="scroll sample">
      <table class="wide">
        {rows.length < total && <caption>The first {rows.length}</caption>}
        <thead>
          <tr>
            <th>Row</th>
            <th>{isOutcome ? 'Now' : 'Execution'}</th>
            <th>Reason</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              <td class="mono">{row.outbox_id}</td>
              <td class="mono">{isOutcome ? <Now status={row.status} /> : row.execution_id}</td>
              <td class="ellipsis" title={row.last_error ?? undefined}>
                {row.last_error}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Now({ status }: { status: string }) {
  return status === 'DEAD' ? <Status status="died again" kind="stuck" /> : <Status status={status} />
}

function rowsText(count: number, more: boolean): string {
  return `${more ? 'the first ' : ''}${whole(count)} ${count === 1 ? 'row' : 'rows'}`
}

/** An id alone may be in several databases, so each database is asked for its own. */
async function redrive(scope: RequeueScope, how: { dry_run?: boolean; note: string }): Promise<Redriven> {
  if (scope.keys === undefined) {
    return send('POST', '/api/internal/outbox/redrive', { reason: scope.reason ?? null, limit: ROWS_MAX, ...how })
  }
  const result: Redriven = { matched: 0, done: 0, more: false, sample: [] }
  for (const [shard, ids] of byShard(scope.keys)) {
    const part = await send<Redriven>('POST', '/api/internal/outbox/redrive', { shard, ids, ...how })
    result.matched += part.matched
    result.done += part.done
    result.more ||= part.more
    result.sample.push(...part.sample)
  }
  return result
}

function byShard(keys: readonly string[]): Map<number, string[]> {
  const shards = new Map<number, string[]>()
  for (const key of keys) {
    const [shard, id] = key.split('-') as [string, string]
    shards.set(Number(shard), [...(shards.get(Number(shard)) ?? []), id])
  }
  return shards
}
