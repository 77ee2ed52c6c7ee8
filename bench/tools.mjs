// What running a tool costs beside what it does: the way through a command alone (noop), a call of warm Python beside a fresh
// interpreter, a shell command beside a bare shell. Calls come one after the other with a pause of 5 ms, as the steps of a
// chain do. In milliseconds they mean something on a quiet machine only; beside each other on any.
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { systemClock } from '../dist/runtime/clock.js'
import { createWorkerTools } from '../dist/tools/workerTools.js'
import { median } from './lib/context.mjs'

const CALLS = 200
const ROUNDS = 60
const PAUSE_MS = 5
/** What a call of Python may add to a hop. */
const PYTHON_MS = 6

export default {
  name: 'tools',
  run: async () => {
    const tools = createWorkerTools(
      {
        environment: process.env,
        allowed: ['python', 'shell'],
        pythonProgram: 'python3',
        processesMax: 16,
        workFolder: tmpdir(),
        dataFolder: tmpdir(),
        http: { forbidden: () => [], allowed: [], denyPrivate: false },
        serverUrl: () => undefined,
        version: 'bench',
      },
      {
        clock: systemClock,
        random: () => 0.5,
        credentials: { find: async () => undefined },
        results: {},
        children: {},
      },
    )
    try {
      await tools.warm()
      const code = 'result = {"page": page + 1, "items": [x * 2 for x in items]}'
      const input = { page: 1, items: [1, 2, 3] }
      // In turn, so that whatever else the machine does meets all of them.
      const [noop, python, fresh, shell, bare] = await timesOf([
        () => run(tools, { kind: 'noop', result: 1 }),
        () => run(tools, { kind: 'python', code, input }),
        () => execFileSync('python3', ['-I', '-c', 'import json']),
        () => run(tools, { kind: 'shell', command: 'true' }),
        () => execFileSync('/bin/bash', ['-c', 'true']),
      ])
      const begun = performance.now()
      await Promise.all(Array.from({ length: CALLS }, () => run(tools, { kind: 'python', code, input })))
      const rate = (CALLS / (performance.now() - begun)) * 1000
      return [
        { name: 'command without a tool', value: median(noop), unit: 'ms' },
        {
          name: 'Python, warm',
          value: median(python),
          unit: 'ms',
          ratio: (median(python) - median(noop)) / PYTHON_MS,
          target: '<= 1',
          note: `above a command without a tool; ratio to ${PYTHON_MS} ms; p90 ${percentile(python, 0.9).toFixed(1)} ms`,
        },
        {
          name: 'beside a fresh interpreter',
          value: median(fresh),
          unit: 'ms',
          ratio: median(python) / median(fresh),
          target: '<= 0.5',
          note: 'ratio of the warm call to it, same run',
        },
        { name: 'Python calls, all at once', value: rate, unit: '/s', note: `${CALLS} calls` },
        {
          name: 'shell command',
          value: median(shell),
          unit: 'ms',
          ratio: median(shell) / median(bare),
          target: '<= 8',
          note: 'ratio to a bare shell: group, leash and sweep included',
        },
      ]
    } finally {
      await tools.close()
    }
  },
}

async function run(tools, config) {
  const context = { tool_config: config }
  const { status, error } = await tools.run(context, { step: 'bench' }, { signal: new AbortController().signal })
  if (status !== 'success') throw new Error(`${config.kind}: ${JSON.stringify(error)}`)
}

async function timesOf(works) {
  const times = works.map(() => [])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, work] of works.entries()) {
      const started = performance.now()
      await work()
      times[index].push(performance.now() - started)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
  return times
}

function percentile(times, share) {
  return [...times].sort((left, right) => left - right)[Math.floor(times.length * share)]
}
