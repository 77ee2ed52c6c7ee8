// A process of its own: replays one execution and says how much memory that took at most.
import { readFileSync } from 'node:fs'
import { openReplay } from './replayPool.mjs'

const [url, executionId] = process.argv.slice(2)
const replay = openReplay(url)
// The thread and its connection exist before the measurement begins.
await replay.run('1')
const output = await replay.run(executionId)
// Not resourceUsage(): its maximum is inherited from the process that started this one.
const peak = Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024
await replay.close()
console.log(JSON.stringify({ peak, document: output.document.byteLength, events: output.eventsRead }))
