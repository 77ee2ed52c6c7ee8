// Has the daemon fold the log once more, from its first event and without what it keeps for this page, and says whether that
// gives the checksum that is shown. At the end of the log operators are told, too, whether the stored snapshot and the read model
// agree with it: neither says anything about an earlier moment.
import { useState } from 'preact/hooks'
import { apiPath, get } from '../../lib/api'
import { isOperator } from '../../lib/session'
import { type Resource, useResource } from '../../lib/useResource'

interface VerifyProps {
  executionId: string
  eventId: string
  checksum: string
  isEnd: boolean
}

interface Checked {
  checks: { check: string; ok: boolean; skipped: boolean; detail: string }[]
}

export function Verify({ executionId, eventId, checksum, isEnd }: VerifyProps) {
  const [isAsked, setAsked] = useState(false)
  // Asked for once: the log may grow meanwhile, and what was said stays said.
  const [isWhole, setWhole] = useState(false)
  // A moment against itself: the answer has its checksum and no document.
  const moment = `event:${eventId}`
  const path = apiPath('/api/replay/diff', { execution_id: executionId, profile: 'cp', from: moment, to: moment })
  const replay = useResource(isAsked ? path : null, (signal) => get<{ to: { checksum: string } }>(path, signal))
  const others = `/api/replay/verify/${executionId}`
  const kept = useResource(isWhole ? others : null, (signal) => get<Checked>(others, signal))
  const ask = (): void => {
    setAsked(true)
    setWhole(isEnd && isOperator.value)
  }
  if (!isAsked) {
    const title = `Fold the whole log again and compare${isEnd ? ', with the snapshot and the read model, too' : ''}`
    return (
      <button type="button" title={title} onClick={ask}>
        Verify
      </button>
    )
  }
  const replayed = replay.data?.to.checksum
  const fold = isWhole ? 'fold: ' : ''
  return (
    <>
      <Failed resource={replay} />
      {replay.error === undefined && (
        <Verdict
          isEqual={replayed === undefined ? undefined : replayed === checksum}
          text={
            replayed === undefined
              ? 'verifying …'
              : `${fold}${replayed === checksum ? 'equal' : `different: replay has ${replayed.slice(0, 8)}`}`
          }
        />
      )}
      <Failed resource={kept} />
      {kept.data?.checks.map(({ check, ok, skipped, detail }) => (
        <Verdict
          key={check}
          isEqual={skipped ? undefined : ok}
          text={`${check}: ${skipped || !ok ? detail : 'equal'}`}
          title={detail}
        />
      ))}
      {isEnd && !isOperator.value && <span class="muted">Snapshot and read model are compared for operators.</span>}
    </>
  )
}

function Failed({ resource: { error, reload } }: { resource: Resource<unknown> }) {
  if (error === undefined) return null
  return (
    <span class="failed" role="status">
      could not be verified: {error.message}{' '}
      <button type="button" class="link" onClick={reload}>
        Try again
      </button>
    </span>
  )
}

/** Undefined: nothing is known, or there was nothing to compare with. */
function Verdict({ isEqual, text, title }: { isEqual: boolean | undefined; text: string; title?: string }) {
  const kind = isEqual === undefined ? 'muted' : isEqual ? 'completed' : 'failed'
  return (
    <span class={`chip-sum ${kind}`} role="status" title={title}>
      {text}
    </span>
  )
}
