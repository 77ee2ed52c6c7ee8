// A thread entry with the faults of real life, for the tests of the pool.
import { getHeapSpaceStatistics } from 'node:v8'

export default async function entry({ task, input }) {
  const ok = (value) => ({ ok: true, value, ms: 1 })
  switch (task) {
    case 'echo':
      return ok(input)
    case 'exit':
      return process.exit(3)
    case 'exitOnce':
      if (Atomics.add(new Int32Array(input.tries), 0, 1) === 0) process.exit(3)
      return ok('alive')
    case 'loop':
      for (;;);
    case 'wait':
      await new Promise((resolve) => setTimeout(resolve, input.ms))
      return ok('waited')
    case 'memory': {
      const kept = []
      for (;;) kept.push(new Array(1e5).fill(kept.length))
    }
    case 'garbage': {
      const last = []
      for (let made = 0; made < 3e6; made++) last[made % 1e5] = { made: [made] }
      return ok(getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size)
    }
    case 'uncloneable':
      return ok(() => 'a function')
    case 'throw':
      throw new Error('plain')
    case 'lateThrow':
      setTimeout(() => {
        throw new Error('late')
      }, 1)
      await new Promise(() => undefined)
      return ok('never')
    case 'refused':
      return { ok: false, code: 'refused', message: 'not now', details: { id: '7' }, ms: 1 }
    default:
      throw new Error(`no task ${task}`)
  }
}
