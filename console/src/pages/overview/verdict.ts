// The one line: is it healthy, is it keeping up.
import { lasted, whole } from '../../lib/time'
import { atLeast, waitingOf } from '../outbox/outbox'
import type { InstanceOverview } from './instance'

export function verdictOf({ ready, checks, shards }: InstanceOverview): string {
  if (!ready) {
    const failing = checks.filter(({ ok, required }) => !ok && required).map(({ name }) => name)
    return failing.length === 0 ? 'Not ready.' : `Not ready: ${failing.join(', ')}.`
  }
  const lastMinute = shards.reduce((sum, shard) => sum + (shard.published_last_minute ?? 0), 0)
  const waiting = shards.reduce((sum, { backlog }) => sum + (backlog === null ? 0 : waitingOf(backlog)), 0)
  const oldest = Math.max(0, ...shards.map((shard) => shard.oldest_age_seconds ?? 0))
  // Charts have the rate of the last seconds, of this daemon alone.
  const rate = `${lastMinute === 0 ? 'Nothing was published' : `Published ${rateText(lastMinute)}`} in the last minute`
  const isPartial = shards.some(({ backlog }) => backlog === null)
  const none = isPartial ? 'nothing waits on the shards that answer' : 'nothing waits'
  const behind =
    waiting === 0 ? none : `${atLeast(shards)}${whole(waiting)} waiting, nothing older than ${lasted(oldest * 1_000)}`
  return `Ready. ${rate}, ${behind}.`
}

function rateText(perMinute: number): string {
  return perMinute < 60 ? whole(perMinute) : `${whole(perMinute)} (${whole(Math.round(perMinute / 60))}/s)`
}
