// Promise: exactly the specified transitions, a repetition changes nothing, a refusal says what is possible,
// and only the six lifecycle types ever move a subscription.

import { describe, expect, it } from 'vitest'
import {
  allowedActions,
  decideSubscription,
  lifecycleStatusOf,
  parseSubscriptionAction,
  SUBSCRIPTION_ACTIONS,
  SUBSCRIPTION_STATES,
} from '../../src/domain/subscriptions/subscription.js'
import { CpError } from '../../src/errors.js'

// The specified table, written out once more on purpose: from state, per action, the resulting state or "-".
const EXPECTED = `
              activate  pause   resume  drain     deactivate
REGISTERED    ACTIVE    -       -       -         DEACTIVATED
ACTIVE        ACTIVE    PAUSED  ACTIVE  DRAINING  DEACTIVATED
PAUSED        ACTIVE    PAUSED  ACTIVE  DRAINING  DEACTIVATED
DRAINING      -         -       -       DRAINING  DEACTIVATED
DEACTIVATED   ACTIVE    -       -       -         DEACTIVATED
`

const [header = [], ...rows] = EXPECTED.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))
const cases = rows.flatMap(([from = '', ...targets]) =>
  targets.map((to, index) => ({ from, action: header[index] as string, to })),
)

describe('transitions', () => {
  it('cover every state and action', () => {
    expect(cases).toHaveLength(SUBSCRIPTION_STATES.length * SUBSCRIPTION_ACTIONS.length)
  })

  it.each(cases)('$action in $from gives $to', ({ from, action, to }) => {
    const state = SUBSCRIPTION_STATES.find((one) => one === from) as (typeof SUBSCRIPTION_STATES)[number]
    const verb = parseSubscriptionAction(action)
    if (to === '-') {
      try {
        decideSubscription(state, verb)
      } catch (error) {
        expect(error).toBeInstanceOf(CpError)
        expect(error).toMatchObject({ code: 'illegal_transition', details: { state, action } })
        expect((error as CpError).message).toContain(state)
        for (const allowed of allowedActions(state)) expect((error as CpError).message).toContain(allowed)
        return
      }
      throw new Error('was allowed')
    }
    const decision = decideSubscription(state, verb)
    expect(decision.status).toBe(to)
    expect(decision.changed).toBe(from !== to)
    if (decision.changed) expect(lifecycleStatusOf(decision.eventType)).toBe(to)
  })

  it('refuse an unknown action', () => {
    expect(() => parseSubscriptionAction('toString')).toThrowError(
      /unknown action "toString"; one of activate, pause, resume, drain, deactivate/,
    )
    expect(() => parseSubscriptionAction('x'.repeat(10_000))).toThrowError(/^unknown action "x{60}";/)
  })
})

describe('history', () => {
  it('knows no other types', () => {
    for (const type of ['subscription.circuit.opened', 'subscription.message.dropped', 'subscription.rate_limited']) {
      expect(lifecycleStatusOf(type)).toBeUndefined()
    }
  })
})
