// What waits to be published, by shard, and who publishes it.
import { get } from '../../lib/api'
import { counted } from '../../lib/counted'
import { hrefOf } from '../../lib/router'
import { lasted, whole } from '../../lib/time'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { Status } from '../../parts/Status'
import { Ago } from '../../parts/Time'
import { atLeast, type Backlog, type ShardOutbox, waitingOf } from './outbox'

const PATH = '/api/internal/outbox/status'

export function NowTab() {
  const status = useResource(PATH, (signal) => get<{ shards: ShardOutbox[] }>(PATH, signal), {
    everyMs: 2_000,
    topics: ['outbox'],
  })
  const failed = status.data?.shards.filter(({ error }) => error !== null).map(({ shard }) => shard)
  return (
    <Panel resource={status} missing={failed === undefined || failed.length === 0 ? undefined : failed.join(', ')}>
      {({ shards }) => (
        <>
          <p class="verdict">{verdictOf(shards)}</p>
          <Shards shards={shards} />
          <Relays shards={shards} />
        </>
      )}
    </Panel>
  )
}

function verdictOf(shards: readonly ShardOutbox[]): string {
  const waiting = shards.reduce((sum, { backlog }) => sum + (backlog === null ? 0 : waitingOf(backlog)), 0)
  const dead = shards.reduce((sum, shard) => sum + (shard.dead ?? 0), 0)
  const oldest = Math.max(0, ...shards.map((shard) => shard.oldest_age_seconds ?? 0))
  const given = dead === 0 ? '' : ` ${counted(dead, 'row was', 'rows were')} given up.`
  const known = shards.some(({ backlog }) => backlog === null) ? 'of the shards that answer: ' : ''
  const rows = waiting === 1 ? '1 row waits' : `${atLeast(shards)}${whole(waiting)} rows wait`
  const said = waiting === 0 ? 'everything is published' : `${rows}, the oldest for ${lasted(oldest * 1_000)}`
  const sentence = known + said
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.${given}`
}

const COLUMNS: readonly (readonly [string, string, (backlog: Backlog) => number])[] = [
  ['Ready', 'may be published now', (backlog) => backlog.pending_ready + backlog.failed_ready],
  ['In flight', 'handed to the stream, not confirmed yet', (backlog) => backlog.in_flight_live],
  ['Retry later', 'failed, and wait for their next attempt', (backlog) => backlog.failed_waiting],
  ['Not due', 'their time has not come', (backlog) => backlog.pending_waiting],
  ['Lease over', 'whoever had them went away; they are taken over', (backlog) => backlog.in_flight_expired],
]

function Shards({ shards }: { shards: readonly ShardOutbox[] }) {
  return (
    <div class="scroll">
      <table class="wide rows">
        <caption>Shards</caption>
        <thead>
          <tr>
            <th>Shard</th>
            {COLUMNS.map(([name, meaning]) => (
              <th key={name} class="number" title={meaning}>
                {name}
              </th>
            ))}
            <th class="number">Oldest</th>
            <th class="number">Dead</th>
            <th class="number">Last minute</th>
            <th class="number">Published</th>
          </tr>
        </thead>
        <tbody>
          {shards.map((shard) => (
            <tr key={shard.shard}>
              <td>
                {shard.shard} <span class="muted">{shard.label}</span>
              </td>
              {shard.backlog === null ? (
                <td colSpan={COLUMNS.length + 4} class="failed">
                  {shard.error}
                </td>
              ) : (
                <ShardNumbers shard={shard} backlog={shard.backlog} />
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function ShardNumbers({ shard, backlog }: { shard: ShardOutbox; backlog: Backlog }) {
  const { dead, published, oldest_age_seconds: oldest, published_last_minute: lastMinute } = shard
  return (
    <>
      {COLUMNS.map(([name, , count]) => (
        <td key={name} class="number" data-name={name}>
          {whole(count(backlog))}
          {backlog.capped ? '+' : ''}
        </td>
      ))}
      <td class="number" data-name="Oldest">
        {oldest === null ? <span class="muted">–</span> : lasted(oldest * 1_000)}
      </td>
      <td class="number" data-name="Dead">
        {dead === null || dead === 0 ? (
          (dead ?? '–')
        ) : (
          <a class="stuck" href={hrefOf('/outbox', { tab: 'dead' })}>
            {whole(dead)}
          </a>
        )}
      </td>
      <td class="number" data-name="Last minute">
        {lastMinute === null ? '–' : whole(lastMinute)}
      </td>
      <td class="number" data-name="Published">
        {published === null ? '–' : `${published.is_estimate ? 'about ' : ''}${whole(published.rows)}`}
      </td>
    </>
  )
}

function Relays({ shards }: { shards: readonly ShardOutbox[] }) {
  const relays = shards.flatMap(({ shard, relays }) => relays.map((relay) => ({ shard, ...relay })))
  if (relays.length === 0) {
    return (
      <p class="notice">
        No relay publishes: no daemon here has a stream. Give one <code>NOETL_NATS_URL</code>.
      </p>
    )
  }
  return (
    <div class="scroll section">
      <table class="wide rows">
        <caption>Relays</caption>
        <thead>
          <tr>
            <th>Relay</th>
            <th>State</th>
            <th class="number">Shard</th>
            <th class="number">Lanes</th>
            <th class="number">Published by it</th>
            <th>Started</th>
          </tr>
        </thead>
        <tbody>
          {relays.map((relay) => (
            <tr key={`${relay.shard} ${relay.relay_id}`}>
              <td>
                <code class="whole">{relay.relay_id}</code>
              </td>
              <td>
                {relay.alive ? <Status status="alive" kind="completed" /> : <Status status="silent" kind="stuck" />}
              </td>
              <td class="number" data-name="Shard">
                {relay.shard}
              </td>
              <td class="number" data-name="Lanes">
                {relay.lanes}
              </td>
              <td class="number" data-name="Published by it">
                {whole(Number(relay.published))}
              </td>
              <td data-name="Started">
                <Ago at={relay.started_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
