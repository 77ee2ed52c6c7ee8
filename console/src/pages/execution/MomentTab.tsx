// The exact state at the handle, folded by the daemon from the log up to that event, with the checksum that proves it. While
// another moment is pinned, the difference between both instead.

import { useMemo } from 'preact/hooks'
import { counted } from '../../lib/counted'
import { isBranch, type Json } from '../../lib/losslessJson'
import { lasted, whole } from '../../lib/time'
import { Command } from '../../parts/Command'
import { JsonTree } from '../../parts/JsonTree'
import { togglePin } from './cursor'
import { SincePin } from './StateDifference'
import { Surface } from './Surface'
import { shortMemory } from './shortMemory'
import type { Slice } from './slices'
import type { Here } from './useMoment'
import { Verify } from './Verify'

interface MomentTabProps {
  executionId: string
  /** Events in the log. */
  total: number
  here: Here
  position: number
  pinned: number | undefined
}

export function MomentTab({ executionId, total, here, position, pinned }: MomentTabProps) {
  // The handle moves faster than states arrive: what has not changed is not looked at again.
  const { slice } = here
  const parts = useMemo(
    () => (slice === undefined ? null : <Parts executionId={executionId} slice={slice} />),
    [executionId, slice],
  )
  const pin = pinned === undefined || pinned === position ? undefined : pinned
  if (position === 0 && pin === undefined) {
    return <div class="empty">Nothing has happened yet: the state is empty.</div>
  }
  const { isExact, checksum, error } = here
  if (slice === undefined) {
    return error === undefined ? (
      <div class="skeleton" aria-busy="true" />
    ) : (
      <p class="notice stale">The state could not be folded: {error.message}</p>
    )
  }
  const short = shortMemory(slice, total)
  return (
    <div class={isExact ? 'moment' : 'moment old'} aria-busy={!isExact}>
      <p class="proof">
        <span class={checksum === undefined ? 'chip-sum muted' : 'chip-sum completed'}>
          {checksum === undefined ? 'checksum …' : `checksum ${checksum.slice(0, 8)}`}
        </span>
        {isExact && slice.eventId !== undefined && checksum !== undefined && (
          <Verify
            key={`${slice.eventId} ${checksum}`}
            executionId={executionId}
            eventId={slice.eventId}
            checksum={checksum}
            isEnd={position === total}
          />
        )}
        {isExact && slice.eventId !== undefined && (
          <Command words={`replay ${executionId} --as-of-event ${slice.eventId}`} />
        )}
        <span class="muted folded">
          {counted(slice.folded, 'event')} folded in {lasted(slice.foldedMs)}
        </span>
      </p>
      {short !== undefined && (
        <p class="notice partial">
          Memory is short for a log of this length: a jump folds up to {whole(short.events)} events
          {short.ms !== undefined && `, which takes up to ${lasted(short.ms)}`}. NOETL_CP_CONSOLE_MEMORY_MB gives it
          more.
        </p>
      )}
      {error !== undefined && <p class="notice stale">Shown as it was: {error.message}</p>}
      {pin === undefined ? (
        parts
      ) : (
        <>
          <p class="pinned">
            What differs between {whole(pin)}, which is pinned, and {whole(position)}.{' '}
            <button type="button" class="link" onClick={() => togglePin(position)}>
              Unpin to see the state
            </button>
          </p>
          <SincePin slices={here.slices} position={position} pinned={pin} />
        </>
      )}
    </div>
  )
}

function Parts({ executionId, slice }: { executionId: string; slice: Slice }) {
  const surfaces = Object.entries(slice.counts)
    .map(([name, byStatus]) => ({
      name,
      byStatus,
      count: Object.values(byStatus).reduce((sum, count) => sum + count, 0),
    }))
    .filter(({ count }) => count > 0)
  return (
    <div class="moment-parts">
      <section class="card" aria-label="Execution">
        <h2>Execution</h2>
        <JsonTree value={runFirst(slice.head)} open={2} />
      </section>
      <section class="card" aria-label="Entities">
        <h2>Entities</h2>
        {surfaces.length === 0 && <p class="muted">No command, loop, stage or frame yet.</p>}
        {surfaces.map(({ name, byStatus, count }) => (
          <Surface key={name} executionId={executionId} name={name} byStatus={byStatus} count={count} slice={slice} />
        ))}
      </section>
    </div>
  )
}

const FIRST = ['execution', 'event_count', 'last_event_id', 'last_event_type']

/** What the run is at before what is known about the fold, which is folded away. */
function runFirst(head: Json): Json {
  if (!isBranch(head) || Array.isArray(head)) return head
  const first = FIRST.filter((name) => name in head).map((name) => [name, head[name]!] as const)
  const rest = Object.entries(head).filter(([name]) => !FIRST.includes(name))
  return { ...Object.fromEntries(first), 'about the fold': [Object.fromEntries(rest)] }
}
