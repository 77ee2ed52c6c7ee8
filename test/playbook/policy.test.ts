// Flow control on a tool is one list of rules, in whichever of its three forms it was written.
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { type Policy, readPolicy } from '../../src/domain/playbook/policy.js'
import { PlanSite } from '../../src/domain/playbook/site.js'
import { PlainContext } from '../../src/domain/template/plainContext.js'

function policyOf(tool: JsonObject): Policy | undefined {
  const site = new PlanSite()
  const policy = readPolicy(site.reader(tool, ''), new Set(['again']), site)
  expect(site.problems.list()).toEqual([])
  return policy
}

const isMet = (policy: Policy | undefined, output: JsonObject): boolean => {
  const context = new PlainContext({ output }, new Set(), 0)
  const [rule] = policy?.rules ?? []
  if (rule === undefined) return false
  return rule.when.every((one) => one.isMet(context)) && rule.unless?.isMet(context) !== true
}

describe('the policy of a tool', () => {
  it('is nothing when nothing is written', () => {
    expect(policyOf({ kind: 'http', retry: false, spec: { timeout: 3 } })).toBeUndefined()
  })

  it('is its rules, with what they leave out', () => {
    const policy = policyOf(
      parseJson(`{"spec": {"policy": {"on_unmatched": "fail", "rules": [
        {"when": "output.error.kind == 'rate_limit'", "then": {"do": "retry", "attempts": 10, "backoff": "linear", "delay": 0.5}},
        {"when": true, "then": {"do": "jump", "to": "again", "set": {"iter.n": 1}}},
        {"else": {"then": {"do": "fail"}}},
        {"else": {"do": "break", "set": {"n": "{{ 1 }}"}}}
      ]}}}`) as JsonObject,
    )
    expect(policy?.onUnmatched).toBe('fail')
    expect(policy?.rules).toMatchObject([
      { action: 'retry', attempts: 10, backoff: 'linear', delaySeconds: 0.5 },
      { action: 'jump', to: 'again', assignments: [{ scope: 'iter', path: ['n'] }] },
      { action: 'fail', when: [], attempts: 3, backoff: 'none', delaySeconds: 1 },
      { action: 'break', when: [], assignments: [{ scope: 'ctx', path: ['n'] }] },
    ])
    expect(isMet(policy, { error: { kind: 'rate_limit' } })).toBe(true)
    expect(isMet(policy, { error: { kind: 'other' } })).toBe(false)
  })

  it('may be written as eval', () => {
    const policy = policyOf({
      eval: [{ expr: 'output.n > 1', do: 'jump', target: 'again', set_vars: { x: 1 } }, { else: { do: 'continue' } }],
    })
    expect(policy?.rules).toMatchObject([
      { action: 'jump', to: 'again', assignments: [{ scope: 'vars', path: ['x'] }] },
      { action: 'continue', when: [] },
    ])
    expect(isMet(policy, { n: 2 })).toBe(true)
  })

  it.each([
    [true, { attempts: 3, backoff: 'none', delaySeconds: 1 }],
    [5, { attempts: 5 }],
    [
      { max_attempts: 4, initial_delay: 2, backoff_multiplier: 3, max_delay: 10, jitter: true },
      { attempts: 4, delaySeconds: 2, backoff: 'exponential', multiplier: 3, maxDelaySeconds: 10, hasJitter: true },
    ],
    [
      { attempts: 4, delay: 2, backoff: 'linear' },
      { attempts: 4, delaySeconds: 2, backoff: 'linear', hasJitter: false },
    ],
  ])('may be written as retry: %j', (retry, expected) => {
    const policy = policyOf({ retry })
    expect(policy?.rules).toMatchObject([{ action: 'retry', ...expected }])
    expect(isMet(policy, { status: 'error' })).toBe(true)
    expect(isMet(policy, { status: 'ok' })).toBe(false)
  })

  it('retries only what it lists', () => {
    const policy = policyOf({ retry: { max_attempts: 2, retry_on: ['timeout'], backoff_seconds: 2 } })
    expect(policy?.rules).toMatchObject([{ attempts: 2, delaySeconds: 2 }])
    expect(isMet(policy, { status: 'error', error: { kind: 'timeout' } })).toBe(true)
    expect(isMet(policy, { status: 'error', error: { kind: 'auth' } })).toBe(false)
    const statuses = policyOf({ retry: { retry_on_status: [429, 503] } })
    expect(isMet(statuses, { status: 'error', error: { http_status: 503 } })).toBe(true)
    expect(isMet(statuses, { status: 'error', error: { http_status: 404 } })).toBe(false)
  })

  it('retries only while it should', () => {
    const policy = policyOf({ retry: { retry_when: 'output.code >= 500', stop_when: '{{ output.code == 599 }}' } })
    expect(isMet(policy, { status: 'error', code: 500 })).toBe(true)
    expect(isMet(policy, { status: 'error', code: 404 })).toBe(false)
    expect(isMet(policy, { status: 'error', code: 599 })).toBe(false)
  })
})
