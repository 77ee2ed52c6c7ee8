// Empties the outbox once; made for cron.
import { drain } from '../../../daemon/drain.js'
import { listenForShutdown } from '../../../runtime/shutdown.js'
import type { DrainEnd, Drained } from '../../../services/outbox/drain.js'
import type { CommandSpec } from '../../command.js'
import { EXIT } from '../../exit.js'
import { integerOption } from '../../options.js'
import { createProgress } from '../../progress.js'

const SECONDS_DEFAULT = 300

const LEFT: Readonly<Record<DrainEnd, string>> = {
  empty: 'nothing is left',
  time: 'time is up and rows are left; some may be waiting for their next attempt or be held by another relay',
  rows: 'the number of rows is reached and some are left',
  stopped: 'stopped on request; rows are left',
}

export const outboxDrain: CommandSpec = {
  path: ['outbox', 'drain'],
  changes: true,
  localBecause: 'it is a relay of its own, with its own connection to NATS',
  summary: 'Publish what waits in the outbox, then end',
  description:
    'Takes the lanes that no running relay holds and publishes their rows in order; waits for what others hold. Safe to run several times at once and beside a daemon. Exit code 0 when nothing is left, 75 when time or rows ran out with work left, 69 when NATS or Postgres cannot be reached. Rows that wait for their next attempt count as left; dead rows do not.',
  options: [
    { flags: '--max-seconds <n>', help: `end after this time; default ${SECONDS_DEFAULT}` },
    { flags: '--max-rows <n>', help: 'publish at most this many rows, exactly' },
    { flags: '--shard <i>', help: 'only this database' },
  ],
  examples: [
    ['outbox drain', 'until nothing is left, at most five minutes'],
    ['outbox drain --max-seconds 50', 'every minute from cron'],
    ['outbox drain --shard 1 --json', 'one database, the result as JSON'],
  ],
  run: async (context, input) => {
    const maxSeconds = integerOption(input, 'max-seconds', { min: 0, max: 86_400 }) ?? SECONDS_DEFAULT
    const maxRows = integerOption(input, 'max-rows', { min: 1, max: 1_000_000_000 })
    const shard = integerOption(input, 'shard', { min: 0, max: 1023 })
    const shutdown = listenForShutdown(context.io)
    const progress = createProgress(context, 'rows published')
    try {
      const draining = drain(await context.deps(), {
        httpUrl: (await context.instance()).httpUrl,
        maxSeconds,
        maxRows,
        shard,
        signal: shutdown.signal,
        onProgress: (published) => progress.report(published),
      })
      const drained = await Promise.race([draining, shutdown.forced])
      progress.end()
      return typeof drained === 'number' ? drained : outputOf(drained)
    } finally {
      progress.end()
      shutdown.dispose()
    }
  },
}

function outputOf(drained: Drained) {
  const { end, published, dead, seconds } = drained
  const rate = seconds > 0 ? Math.round(published / seconds) : 0
  const deadText = dead === 0 ? '' : `; ${dead} dead, see "noetl-cp outbox dead list"`
  return {
    json: { end, published, dead, seconds: Math.round(seconds * 1000) / 1000 },
    blocks: [
      {
        kind: 'text' as const,
        text: `published ${published} row(s) in ${seconds.toFixed(1)} s (${rate}/s): ${LEFT[end]}${deadText}`,
      },
    ],
    exitCode: end === 'empty' ? EXIT.ok : EXIT.workRemains,
  }
}
