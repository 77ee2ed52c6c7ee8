// A process of its own: replays one execution and says how much memory that took at most.
import { memoryUsage, resourceUsage } from 'node:process'
import { openReplay } from './replayPool.mjs'

const [url, executionId] = process.argv.slice(2)
const replay = openReplay(url)
// The thread and its connection exist before the measurement begins.
await replay.run('1')
const before = memoryUsage().rss
const output = await replay.run(executionId)
const peak = resourceUsage().maxRSS * 1024
await replay.close()
console.log(JSON.stringify({ before, peak, document: output.document.byteLength, events: output.eventsRead }))
