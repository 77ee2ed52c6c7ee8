// I7: when every daemon has stopped as asked, nothing is held any more that somebody would have to wait for.
import type { Violation } from './journal.js'
import type { LabPostgres } from './postgres.js'

/** A machine id of a daemon that was killed is held for this long. */
const MACHINE_LEASE_SECONDS = 30

const HELD = `
  select kind || ' lease ' || slot || ' of ' || owner as text from noetl.lease
    where owner is not null and (kind <> 'machine' or lease_until > now() + make_interval(secs => $1::int))
  union all select 'subscription ' || subscription_id || ' of ' || owner from noetl.subscription where owner is not null`

export async function judgeLeases(shards: readonly Pick<LabPostgres, 'sql'>[]): Promise<Violation[]> {
  const rows = await Promise.all(shards.map((shard) => shard.sql<{ text: string }>(HELD, [MACHINE_LEASE_SECONDS])))
  return rows.flatMap((list, shard) =>
    list.map(({ text }) => ({
      invariant: 'I7' as const,
      kind: 'lease left',
      message: `all daemons have stopped and shard ${shard} still knows ${text}`,
    })),
  )
}
