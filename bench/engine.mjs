// The engine: native steps per second of one chain, the way from the last answer of a worker to the end of its execution, and
// the hop from one step to the next with a model worker. c is one bare commit in the same run.
import { PRODUCT_FLAGS, runScript } from './lib/child.mjs'

const STEPS_PER_SECOND = 5_000

export default {
  name: 'engine',
  run: async (ctx) => {
    const database = await ctx.database()
    const found = await runScript('engineRun.mjs', { url: database.url }, { flags: PRODUCT_FLAGS }).finished
    const { commitMs, nativeStepsPerSecond, bareStepsPerSecond, nativeSteps, tailMs, hopMs, turnMs } = found
    const ofCommit = `one bare commit ${commitMs.toFixed(2)} ms`
    return [
      {
        name: `native noop chain of ${nativeSteps} steps`,
        value: nativeStepsPerSecond,
        unit: 'steps/s',
        ratio: nativeStepsPerSecond / STEPS_PER_SECOND,
        target: '>= 1',
        note: `five events each, from start to end; ratio to ${STEPS_PER_SECOND.toLocaleString('en')}`,
      },
      {
        name: 'its rows inserted bare, by one session',
        value: bareStepsPerSecond,
        unit: 'steps/s',
        ratio: nativeStepsPerSecond / bareStepsPerSecond,
        target: '>= 0.6',
        note: 'ratio of the chain to it: what the database alone takes for events and outbox rows',
      },
      {
        name: 'last answer to the end of the execution, p50',
        value: tailMs,
        unit: 'ms',
        ratio: tailMs / commitMs,
        target: '<= 4',
        note: ofCommit,
      },
      {
        name: 'hop with a model worker, p50',
        value: hopMs,
        unit: 'ms',
        ratio: hopMs / commitMs,
        note: `answer stored to next command stored; ${ofCommit}`,
      },
      {
        name: 'turn of a model worker, p50',
        value: turnMs,
        unit: 'ms',
        ratio: turnMs / commitMs,
        note: `answer handed in to next command stored; ${ofCommit}`,
      },
    ]
  },
}
