// Who publishes which part of each shard: one strip of its lanes, a part per relay, hatched where nobody holds any.
import { lasted, whole } from '../../lib/time'
import { waitingOf } from '../outbox/outbox'
import { LANES, type ShardOverview } from './instance'

export function Lanes({ shards }: { shards: readonly ShardOverview[] }) {
  return (
    <div class="scroll section">
      <table class="wide">
        <caption>Shards and their lanes</caption>
        <thead>
          <tr>
            <th>Shard</th>
            <th class="strip">Lanes</th>
            <th class="number">Waiting</th>
            <th class="number">Oldest</th>
            <th class="number">Dead</th>
            <th class="number">Last minute</th>
          </tr>
        </thead>
        <tbody>
          {shards.map((shard) => (
            <tr key={shard.shard}>
              <td>
                {shard.shard} <span class="muted">{shard.label}</span>
              </td>
              {shard.backlog === null ? (
                <td colSpan={5} class="failed">
                  {shard.error}
                </td>
              ) : (
                <>
                  <td class="strip">
                    <Strip owners={shard.owners} />
                  </td>
                  <td class="number">{whole(waitingOf(shard.backlog))}</td>
                  <td class="number">
                    {shard.oldest_age_seconds === null ? '–' : lasted(shard.oldest_age_seconds * 1_000)}
                  </td>
                  <td class="number">{whole(shard.dead ?? 0)}</td>
                  <td class="number">{whole(shard.published_last_minute ?? 0)}</td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Strip({ owners }: { owners: ShardOverview['owners'] }) {
  const live = owners.filter(({ live }) => live)
  const free = LANES - live.reduce((sum, { lanes }) => sum + lanes, 0)
  const parts = [
    ...live.map(({ owner, lanes }) => ({ name: owner, lanes, isFree: false })),
    ...(free > 0 ? [{ name: 'nobody', lanes: free, isFree: true }] : []),
  ]
  let x = 0
  return (
    <div class="lanes">
      <svg viewBox={`0 0 ${LANES} 1`} preserveAspectRatio="none" aria-hidden="true">
        {parts.map(({ name, lanes, isFree }, index) => {
          const from = x
          x += lanes
          return (
            <rect
              key={name}
              class={isFree ? 'free' : `held held-${index % 4}`}
              x={from}
              width={lanes - 0.15}
              y={0}
              height={1}
            />
          )
        })}
      </svg>
      <span>{parts.map(({ name, lanes }) => `${name} ${lanes}`).join(', ')}</span>
    </div>
  )
}
