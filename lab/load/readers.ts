// Reads what was just written: a replay and a live state contain at least every event that had been acknowledged when
// they were asked for, whatever happens around them.
import { type Load, wronglyRefused } from './loadContext.js'

export const readBack: Load = async (context) => {
  const { random, client, ledger, journal } = context
  while (!context.isOver()) {
    await context.pause(20, 120)
    const known = ledger.recent()
    if (known.length === 0) continue
    const { executionId } = random.pick(known)
    const written = ledger.acknowledgedCount(executionId)
    const isReplay = random.chance(0.5)
    const path = isReplay
      ? `/api/replay/state?execution_id=${executionId}&limit=100000&from_snapshot=${random.chance(0.5)}`
      : `/api/executions/${executionId}/state`
    const answer = await client.insist('GET', path)
    ledger.counts.replays += 1
    if (answer.status !== 200) {
      wronglyRefused(context, `GET ${path}`, answer)
      continue
    }
    const seen = isReplay ? answer.body.event_count : Number(answer.headers.get('x-noetl-state-version'))
    // Stragglers of other writers are numbered a moment later; the replay sees them, the live state counts numbers.
    const promised = isReplay
      ? written
      : ledger.executions.get(executionId)!.events.filter((event) => event.acknowledged && event.step !== 'foreign')
          .length
    if (!(seen >= Math.min(written, promised))) {
      journal.report({
        invariant: 'I5',
        kind: 'stale read',
        executionId,
        message: `GET ${path} of daemon ${answer.daemon} showed ${seen} events, although ${promised} were acknowledged before`,
      })
    }
  }
}
