// What waits in the source of a subscription. Where there is no source yet, that is bad news only for one that should deliver.
import { lasted, whole } from '../../lib/time'
import type { SubscriptionDetail } from './subscription'

const AT_WORK = ['ACTIVE', 'PAUSED', 'DRAINING']

export function Waiting({ subscription: { backlog, state, spec } }: { subscription: SubscriptionDetail }) {
  if ('error' in backlog) {
    if (AT_WORK.includes(state)) return <span class="failed">{backlog.error}</span>
    if (!backlog.is_missing) return <span class="muted">{backlog.error}</span>
    const { stream, subject } = spec
    return (
      <>
        nothing: there is no stream {stream ?? `with the subject ${subject}`} yet. Make it before or after you activate
        this; deliveries begin when both are there
      </>
    )
  }
  if (backlog.backlog === 0) return <>nothing</>
  const { pending, ack_pending: held, redelivered, oldest_age_seconds: oldest } = backlog
  const parts = [
    `${whole(pending)} in the source`,
    `${whole(held)} handed out`,
    ...(redelivered === 0 ? [] : [`${whole(redelivered)} again`]),
    `the oldest for ${lasted(oldest * 1_000)}`,
  ]
  return <>{parts.join(', ')}</>
}
