// Who delivers a subscription, and how long that is certain: whoever drives one holds a lease, which is renewed all the time.
import { now } from '../../lib/now'
import { millisOf } from '../../lib/time'
import { Ago, inSeconds } from '../../parts/Time'
import type { Subscription } from './subscription'

export function DrivenBy({ subscription }: { subscription: Subscription }) {
  const { driver, mode, state, runtime, lease_owner: owner, lease_until: until } = subscription
  if (driver === 'external') return <>a runtime of its own</>
  if (mode === 'push') return <>whichever daemon a request comes to</>
  if (runtime !== null) {
    const left = millisOf(until) - now.value
    return (
      <span>
        {runtime}, <time dateTime={until!}>lease ends in {inSeconds(Math.max(0, left) + 999)}</time>
      </span>
    )
  }
  if (owner !== null && until !== null) {
    return (
      <span>
        nobody since <Ago at={until} />, before that {owner}
      </span>
    )
  }
  return <>{state === 'ACTIVE' ? 'nobody now: a daemon with a stream takes it within seconds' : 'nobody now'}</>
}
