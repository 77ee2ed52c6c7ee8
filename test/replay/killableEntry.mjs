// The entry of the worker threads, and a wire to the outside: the name of an execution kills the thread that is
// folding it, in the middle of its work.
import { BroadcastChannel } from 'node:worker_threads'
import entry from '../../dist/workers/entry.js'

let folding = null
const wire = new BroadcastChannel('kill the thread that folds')
wire.onmessage = ({ data }) => {
  if (data === folding) process.exit(1)
}
wire.unref()

export default async function killableEntry(call) {
  folding = String(call.input.query?.executionId)
  try {
    return await entry(call)
  } finally {
    folding = null
  }
}
