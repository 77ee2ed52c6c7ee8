// Has the daemon fold the log once more, from its first event and without what it keeps for this page, and says whether that
// gives the checksum that is shown.
import { useState } from 'preact/hooks'
import { apiPath, get } from '../../lib/api'
import { useResource } from '../../lib/useResource'

interface VerifyProps {
  executionId: string
  eventId: string
  checksum: string
}

export function Verify({ executionId, eventId, checksum }: VerifyProps) {
  const [isAsked, setAsked] = useState(false)
  // A moment against itself: the answer has its checksum and no document.
  const moment = `event:${eventId}`
  const path = apiPath('/api/replay/diff', { execution_id: executionId, profile: 'cp', from: moment, to: moment })
  const replay = useResource(isAsked ? path : null, (signal) => get<{ to: { checksum: string } }>(path, signal))
  if (!isAsked) {
    return (
      <button type="button" title="Fold the whole log again and compare" onClick={() => setAsked(true)}>
        Verify
      </button>
    )
  }
  if (replay.error !== undefined) {
    return (
      <span class="failed" role="status">
        could not be verified: {replay.error.message}{' '}
        <button type="button" class="link" onClick={replay.reload}>
          Try again
        </button>
      </span>
    )
  }
  return <Verdict shown={checksum} replayed={replay.data?.to.checksum} />
}

function Verdict({ shown, replayed }: { shown: string; replayed: string | undefined }) {
  const isEqual = shown === replayed
  const kind = replayed === undefined ? 'muted' : isEqual ? 'completed' : 'failed'
  return (
    <span class={`chip-sum ${kind}`} role="status">
      {replayed === undefined ? 'verifying …' : isEqual ? 'equal' : `different: replay has ${replayed.slice(0, 8)}`}
    </span>
  )
}
