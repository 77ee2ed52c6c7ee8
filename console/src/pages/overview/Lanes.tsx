// Who publishes and who drives which lanes of each shard, and a line for everybody who does.
import { lasted, whole } from '../../lib/time'
import { Status } from '../../parts/Status'
import { waitingOf } from '../outbox/outbox'
import type { InstanceOverview } from './instance'
import { LaneStrip, lookClass } from './LaneStrip'
import { cellsOf, type Look, looksOf, stripsOf } from './laneHolders'

type LanesProps = Pick<InstanceOverview, 'shards' | 'drivers'>

export function Lanes({ shards, drivers }: LanesProps) {
  const looks = looksOf({ shards, drivers })
  return (
    <>
      <div class="scroll section">
        <table class="wide rows">
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
                      {stripsOf({ shards, drivers }, shard.shard).map((strip) => (
                        <LaneStrip key={strip.name} strip={strip} shard={shard.shard} looks={looks} />
                      ))}
                    </td>
                    <td class="number" data-name="Waiting">
                      {whole(waitingOf(shard.backlog))}
                      {shard.backlog.capped ? '+' : ''}
                    </td>
                    <td class="number" data-name="Oldest">
                      {shard.oldest_age_seconds === null ? '–' : lasted(shard.oldest_age_seconds * 1_000)}
                    </td>
                    <td class="number" data-name="Dead">
                      {whole(shard.dead ?? 0)}
                    </td>
                    <td class="number" data-name="Last minute">
                      {whole(shard.published_last_minute ?? 0)}
                    </td>
                  </>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {looks.size > 0 && <Holders shards={shards} drivers={drivers} looks={looks} />}
    </>
  )
}

/** What each look in the strips stands for. */
function Holders({ shards, drivers, looks }: LanesProps & { looks: ReadonlyMap<string, Look> }) {
  const publishing = shards.flatMap(({ owners }) => cellsOf(owners))
  const driving = shards
    .flatMap(({ shard }) => stripsOf({ shards, drivers }, shard).slice(1))
    .flatMap(({ holders }) => cellsOf(holders))
  const alive = new Set(
    shards.flatMap(({ relays }) => relays.filter((relay) => relay.alive).map(({ relay_id }) => relay_id)),
  )
  return (
    <div class="scroll section">
      <table class="wide rows">
        <caption>Relays and drivers</caption>
        <thead>
          <tr>
            <th>Daemon</th>
            <th>State</th>
            <th class="number">Publishes lanes</th>
            <th class="number">Drives lanes</th>
            <th class="number">Lease</th>
          </tr>
        </thead>
        <tbody>
          {[...looks.keys()].map((name) => {
            const held = [...publishing, ...driving].filter(({ owner }) => owner === name)
            const of = (cells: typeof held): number => cells.filter(({ owner }) => owner === name).length
            const isHere = held.length > 0 || alive.has(name)
            return (
              <tr key={name}>
                <td>
                  <i class={`${lookClass(name, looks)} swatch`} /> {name}
                </td>
                <td>{isHere ? <Status status="alive" kind="completed" /> : <Status status="gone" kind="stuck" />}</td>
                <td class="number" data-name="Publishes lanes">
                  {of(publishing)}
                </td>
                <td class="number" data-name="Drives lanes">
                  {of(driving)}
                </td>
                <td class="number" data-name="Lease">
                  {held.length === 0 ? '–' : `${Math.min(...held.map(({ leaseSeconds }) => leaseSeconds))} s`}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
