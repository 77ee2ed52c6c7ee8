// Calls the API with wrong input. Each request must be refused by a 4xx (or by a 503 while a server is away), and
// nothing of it may be stored.
import type { Load } from './loadContext.js'

let serial = 0

export const sendNonsense: Load = async (context) => {
  const { random, client, ledger, journal } = context
  while (!context.isOver()) {
    await context.pause(40, 200)
    const mark = `wrong-${serial++}`
    ledger.refused.add(mark)
    const known = ledger.recent()
    const execution_id = known.length === 0 ? '1' : random.pick(known).executionId
    const event = { execution_id, step: 's', event_type: 'step.enter', payload: { mark } }
    const [method, path, body] = random.pick<['GET' | 'POST', string, unknown]>([
      ['POST', '/api/events', { ...event, event_type: 7 }],
      ['POST', '/api/events', { ...event, execution_id: '99999999999999999999' }],
      ['POST', '/api/events', { ...event, execution_id: '12345' }],
      ['POST', '/api/events', { ...event, created_at: 'yesterday' }],
      ['POST', '/api/events', `{"execution_id":"${execution_id}","payload":{"mark":"${mark}","mark":1}}`],
      ['POST', '/api/events', `{"execution_id":"${execution_id}","payload":{"mark":"${mark}\\u0000"}}`],
      [
        'POST',
        '/api/events/batch',
        { execution_id, events: [{ step: 's', event_type: 'step.enter', payload: { mark } }, { step: 7 }] },
      ],
      ['POST', '/api/execute', { path: `chaos/none/${mark}`, payload: { mark } }],
      ['POST', '/api/execute', { payload: { mark } }],
      ['POST', '/api/subscriptions/1/pause', { reason: mark }],
      ['POST', '/api/catalog/register', { content: `kind: Nonsense\nmark: ${mark}` }],
      ['GET', '/api/replay/state?execution_id=x', undefined],
      ['GET', `/api/replay/state?execution_id=${execution_id}&as_of_version=1&as_of_event_id=2`, undefined],
      ['GET', '/api/executions/12345/state', undefined],
    ])
    const answer = await client.once(method, path, body)
    if (answer === undefined || answer.status === 500) continue
    ledger.counts.refusals += 1
    if (answer.status === 503 || (answer.status >= 400 && answer.status < 500)) continue
    journal.report({
      invariant: 'I8',
      kind: 'nonsense accepted',
      message: `${method} ${path} ${JSON.stringify(body)} was answered ${answer.status}: ${answer.text.slice(0, 300)}`,
    })
  }
}
