// What became of an act against a standstill: whether its reason is gone, and the event that the act has put into the log.
import { apiPath, get } from '../../lib/api'
import { hrefOf } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import type { WindowEvent } from './EventsTab'

export interface Acted {
  /** Of the finding. */
  key: string
  name: string
  /** So many events there were before. */
  version: number
  /** Another execution that it has begun. */
  started: string | undefined
}

interface ActOutcomeProps {
  executionId: string
  acted: Acted
  /** Its reason still is. */
  isThere: boolean
}

export function ActOutcome({ executionId, acted: { name, version, started }, isThere }: ActOutcomeProps) {
  const path = apiPath(`/api/executions/${executionId}/events`, { from: version + 1, limit: 1 })
  const { data } = useResource(path, (signal) => get<{ events: WindowEvent[] }>(path, signal), {
    topics: [`execution:${executionId}`],
    version: String(isThere),
  })
  const event = data?.events[0]
  return (
    <p class="notice done" role="status">
      {name}: done.{' '}
      {started !== undefined ? (
        <a href={hrefOf(`/executions/${started}`)}>Execution {started}</a>
      ) : (
        <>
          {isThere ? 'Waiting until the reason is gone …' : 'The reason is gone.'}{' '}
          {event !== undefined && (
            <a href={hrefOf(`/executions/${executionId}`, { at: `event:${event.event_id}`, tab: 'event' })}>
              {event.event_type}, event {event.event_id}
            </a>
          )}
        </>
      )}
    </p>
  )
}
