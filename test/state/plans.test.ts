// A state thread plans a playbook once, keeps what it used last, and forgets the rest.
import { expect, it } from 'vitest'
import { Plans } from '../../src/services/state/inThread/plans.js'
import { playbook } from '../support/core.js'

it('knows a plan from its text on, and forgets the one used longest ago', () => {
  const plans = new Plans()
  expect(plans.of('0')).toBeUndefined()
  for (let id = 0; id < 500; id++) plans.learn(String(id), playbook(`tests/p${id}`))
  const { plan } = plans.of('0') ?? {}
  expect(plan?.steps.map(({ name }) => name)).toEqual(['start'])
  plans.learn('500', playbook('tests/p500'))
  expect(plans.of('0')?.plan).toBe(plan)
  expect(plans.of('1')).toBeUndefined()
})

it('keeps what is wrong with a playbook too', () => {
  const plans = new Plans()
  plans.learn('1', 'kind: Playbook\nmetadata: {name: x}\n')
  expect(plans.of('1')).toMatchObject({
    plan: undefined,
    problems: [{ pointer: '/apiVersion' }, { pointer: '/workflow' }],
  })
})
