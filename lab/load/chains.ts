// Events without an id of their own, each sent when the one before was acknowledged, to whichever daemon: the ids that
// are minted for them must rise. Without an id nothing can be repeated, so a chain ends where an answer is missing.
import { newEvent, start, toWire } from './executions.js'
import type { Load } from './loadContext.js'

const LENGTH = 12

export const chainEvents: Load = async (context) => {
  while (!context.isOver()) {
    const execution = await start(context)
    if (execution === undefined) continue
    const chain: string[] = []
    execution.chain = chain
    while (chain.length < LENGTH && !context.isOver()) {
      const event = newEvent(context, execution, chain.length % 2 === 0 ? 'step.enter' : 'step.exit', 'chained')
      const { event_id: _, ...wire } = toWire(event, {})
      const answer = await context.client.once('POST', '/api/events', { execution_id: execution.executionId, ...wire })
      const minted = answer?.status === 200 ? /"event_id":\s*(\d+)/.exec(answer.text)?.[1] : undefined
      if (minted === undefined) {
        // Nobody knows under which id it is stored, if it is.
        execution.events.pop()
        break
      }
      Object.assign(event, { eventId: minted, acknowledged: true })
      chain.push(minted)
      await context.pause(0, 20)
    }
    await context.pause(100, 300)
  }
}
