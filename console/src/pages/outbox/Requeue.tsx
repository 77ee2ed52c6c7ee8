// Dead rows come back: first what it would do, then why, then what became of them. A few that were chosen are done at once; all,
// or all of a reason, are a job.

import { useSignal } from '@preact/signals'
import { ApiError, send } from '../../lib/api'
import { counted } from '../../lib/counted'
import { useKeys } from '../../lib/keys'
import { ask } from '../../lib/router'
import { whyNotOperator } from '../../lib/session'
import { whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { ActButton } from '../../parts/ActButton'
import { Agreement } from '../../parts/Agreement'
import { Dialog } from '../../parts/Dialog'
import type { JobAnswer } from '../../parts/jobKinds'
import { Panel } from '../../parts/Panel'
import type { Order } from '../../parts/SameAct'
import type { OutboxRow } from './outbox'
import { SampleTable } from './SampleTable'
import { WatchedRows } from './WatchedRows'

const PATH = '/api/internal/outbox/redrive'

/** Rows by `shard-id`, or by a part of their reason; without either all that are dead. */
export interface RequeueScope {
  keys?: readonly string[]
  reason?: string
}

interface RequeueProps {
  name: string
  scope: RequeueScope
  /** The one of the screen that its keys open. */
  hasKeys?: boolean
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
  // Either begins with the dry run.
  useKeys(props.hasKeys === true ? { r: open, d: open } : {})
  return (
    <>
      <ActButton why={why} meaning="First shows what it would do" onClick={open}>
        {props.name}…
      </ActButton>
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
  const rows = rowsText(planned.matched, planned.more)
  const act = async (note: string): Promise<void> => {
    if (scope.keys === undefined) {
      const job = await beginRedrive(scope, planned, note)
      onClose()
      ask({ job: job.job_id })
    } else onDone(await redrive(scope, { note }))
  }
  return (
    <>
      <p>
        Dry run: {rows} would come back and be published again from the first attempt. Nothing is changed yet.
        {scope.reason !== undefined && <> They are those whose reason contains “{scope.reason}”.</>}
      </p>
      <SampleTable rows={planned.sample} total={planned.matched} />
      <Agreement
        act={`Requeue ${rows}`}
        count={planned.matched}
        hint="for the record: why now"
        order={(note) => orderOf(scope, planned, note)}
        onAct={act}
        onClose={onClose}
      />
    </>
  )
}

function Outcome({ result }: { result: Redriven }) {
  return (
    <>
      <p role="status">
        {rowsText(result.done, false)} came back
        {result.done < result.matched ? `; ${whole(result.matched - result.done)} were not dead any more` : ''}.
        {result.more && ' More are left: requeue again.'}
      </p>
      <WatchedRows rows={result.sample} total={result.done} />
    </>
  )
}

function rowsText(count: number, more: boolean): string {
  return `${more ? 'the first ' : ''}${counted(count, 'row')}`
}

/** Never more than the dry run has counted. */
function beginRedrive(scope: RequeueScope, planned: Redriven, note: string): Promise<JobAnswer> {
  return send('POST', PATH, jobOf(scope, planned, note))
}

function jobOf(scope: RequeueScope, planned: Redriven, note: string): object {
  return { reason: scope.reason ?? null, limit: planned.matched, note, as_job: true }
}

/** Rows of several databases are several commands: those are not shown. */
function orderOf(scope: RequeueScope, planned: Redriven, note: string): Order | undefined {
  const redriven = ['outbox', 'dead', 'redrive']
  if (scope.keys === undefined) {
    const which = scope.reason === undefined ? ['--all'] : ['--reason', scope.reason]
    const cli = [...redriven, ...which, '--limit', String(planned.matched)]
    return { cli, path: PATH, body: jobOf(scope, planned, note) }
  }
  const [only, ...others] = byShard(scope.keys)
  if (only === undefined || others.length > 0) return undefined
  const [shard, ids] = only
  return { cli: [...redriven, ...ids, '--shard', String(shard)], path: PATH, body: { shard, ids, note } }
}

/** An id alone may be in several databases, so each database is asked for its own. */
async function redrive(scope: RequeueScope, how: { dry_run?: boolean; note: string }): Promise<Redriven> {
  if (scope.keys === undefined) {
    return send('POST', PATH, { reason: scope.reason ?? null, limit: ROWS_MAX, ...how })
  }
  const result: Redriven = { matched: 0, done: 0, more: false, sample: [] }
  for (const [shard, ids] of byShard(scope.keys)) {
    const part = await send<Redriven>('POST', PATH, { shard, ids, ...how }).catch((error: unknown) => {
      throw afterSome(result.done, error)
    })
    result.matched += part.matched
    result.done += part.done
    result.more ||= part.more
    result.sample.push(...part.sample)
  }
  return result
}

/** What came back of the databases before is not taken back because the next one refuses. */
function afterSome(done: number, error: unknown): unknown {
  if (done === 0 || !(error instanceof ApiError)) return error
  return new ApiError(`${rowsText(done, false)} came back; then: ${error.message}`, error.status, error.request)
}

function byShard(keys: readonly string[]): Map<number, string[]> {
  const shards = new Map<number, string[]>()
  for (const key of keys) {
    const [shard, id] = key.split('-') as [string, string]
    shards.set(Number(shard), [...(shards.get(Number(shard)) ?? []), id])
  }
  return shards
}
