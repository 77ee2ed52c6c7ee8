// The broker comes back with the disk of a few seconds ago: what it has acknowledged since is gone, sequences and all, and
// the next messages get those sequences again. What exactly was lost is written into the ledger: the source's messages
// nobody can bring back, the events are still rows of the outbox and an audit sends them again.
import { DeliverPolicy, type NatsConnection } from 'nats'
import { readStream } from '../test/support/stream.js'
import { until } from '../test/support/until.js'
import type { Ledger } from './ledger.js'
import type { NatsNode } from './nats.js'
import { type Site, SOURCE, STREAM } from './site.js'

/** Keeps the files as they are now; answers what brings them back. */
export async function beginRestore(site: Site, node: NatsNode, ledger: Ledger): Promise<() => Promise<void>> {
  ledger.restored.times += 1
  const from = await onBroker(site, lastSequence)
  await node.copyFiles()
  return async () => {
    const links = site.processes.flatMap((daemon) => daemon.links.nats)
    // Nobody publishes while we look; what is read now is all that can be lost.
    for (const link of links) link.setMode('refuse')
    const stored = await onBroker(site, async (connection) => {
      await settled(connection)
      return readAfter(connection, from)
    })
    await node.restoreFiles()
    await onBroker(site, async (connection) => {
      const last = await lastSequence(connection)
      for (const { seq, id } of stored) if (seq > last) ledger.restored.messages.add(id)
      const source = await readStream(connection, await connection.jetstreamManager(), SOURCE)
      const present = new Set(source.map(({ body }) => (JSON.parse(body) as { n: number }).n))
      for (const n of ledger.sourced) if (!present.has(n)) ledger.restored.sourced.add(n)
    })
    for (const link of links) link.setMode('pass')
  }
}

async function onBroker<T>(site: Site, work: (connection: NatsConnection) => Promise<T>): Promise<T> {
  const connection = await site.nats.connect()
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}

async function lastSequence(connection: NatsConnection): Promise<number> {
  return (await (await connection.jetstreamManager()).streams.info(STREAM)).state.last_seq
}

/** What had arrived before the links were cut is stored a moment later. */
async function settled(connection: NatsConnection): Promise<void> {
  let before = -1
  await until(
    'the stream stands still',
    async () => {
      const last = await lastSequence(connection)
      const isStill = last === before
      before = last
      return isStill
    },
    { timeoutMs: 30_000, everyMs: 300 },
  )
}

async function readAfter(connection: NatsConnection, after: number): Promise<{ seq: number; id: string }[]> {
  const found: { seq: number; id: string }[] = []
  const last = await lastSequence(connection)
  if (last <= after) return found
  const consumer = await connection.jetstream().consumers.get(STREAM, {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: after + 1,
  })
  for await (const message of await consumer.consume()) {
    found.push({ seq: message.seq, id: message.headers?.get('Nats-Msg-Id') ?? '' })
    if (message.seq >= last) break
  }
  return found
}
