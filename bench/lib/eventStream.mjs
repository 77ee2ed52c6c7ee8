// The stream that the relay publishes to, as the program makes it, empty.
const STREAM = { name: 'NOETL_EVENTS', subjects: ['noetl.events.>'], duplicate_window: 120e9, max_age: 86400e9 }

export async function freshStream(nc) {
  const jsm = await nc.jetstreamManager()
  await jsm.streams.delete(STREAM.name).catch(() => undefined)
  await jsm.streams.add(STREAM)
}
