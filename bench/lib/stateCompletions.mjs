// Many executions whose commands all complete at once: appended through the front door, folded as they come.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { wireTimeFromMillis } from '../../dist/domain/events/wireTime.js'
import { openStateService } from './stateService.mjs'

const { url, executions, perExecution } = JSON.parse(process.argv[2])
const BATCH = 20
const state = await openStateService(url, { drive: true, threads: 0 })
while (state.service.stats().lanes[0] < 64) await new Promise((resolve) => setTimeout(resolve, 20))

const item = (executionId, eventType, nodeName, commandId) => ({
  event: {
    executionId,
    eventId: state.ids.next(),
    eventType,
    nodeName,
    status: 'COMPLETED',
    catalogId: '1',
    result: { status: 'COMPLETED', context: { data: { row: commandId ?? null, text: 'x'.repeat(60) } } },
    meta: commandId === undefined ? {} : { command_id: commandId },
    tenantId: 'default',
    organizationId: 'default',
    createdAt: wireTimeFromMillis(Date.now()),
    createdAtGiven: false,
  },
  idGiven: false,
  publish: true,
  createExecution: eventType === 'playbook_started',
})
const ids = Array.from({ length: executions }, () => state.ids.next())
for (const id of ids) await state.appender.append([item(id, 'playbook_started', 'bench')])

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
let rss = 0
const watch = setInterval(() => {
  rss = Math.max(rss, process.memoryUsage().rss)
}, 100)
const started = performance.now()
const jobs = []
for (let from = 0; from < perExecution; from += BATCH) {
  for (const id of ids) jobs.push({ id, from })
}
await Promise.all(
  Array.from({ length: 32 }, async () => {
    for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) {
      const { id, from } = job
      const count = Math.min(BATCH, perExecution - from)
      await state.appender.append(
        Array.from({ length: count }, (_, n) => item(id, 'command.completed', 'loop', `${id}:loop:${from + n}`)),
      )
    }
  }),
)
for (const id of ids) {
  const { version } = await state.service.ask(id, { drive: true })
  if (version !== perExecution + 1) throw new Error(`execution ${id} is at version ${version}`)
}
const seconds = (performance.now() - started) / 1000
clearInterval(watch)
const { advances, snapshots, errors } = state.counts
if (errors.length > 0) throw new Error(errors[0])
const result = {
  eventsPerSecond: (executions * perExecution) / seconds,
  advances,
  snapshots,
  rssMb: Math.round(rss / 1e6),
  loopP99Ms: Number((delay.percentile(99) / 1e6).toFixed(1)),
}
await state.close()
console.log(JSON.stringify(result))
