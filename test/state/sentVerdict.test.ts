// Promise: what a decision says leaves its thread unchanged, whatever numbers are in it.
import { expect, it } from 'vitest'
import { Float } from '../../src/domain/json/value.js'
import { writeJson } from '../../src/domain/json/write.js'
import { receiveDecision, type SentDecision, sendVerdict } from '../../src/services/state/inThread/sentVerdict.js'

it('keeps floats, large integers and strange keys', () => {
  const context = { whole: new Float(3), big: 9007199254740993n, part: 0.5, constructor: 1, none: null }
  const decision = { key: 'start', events: [{ eventType: 'step.exit', nodeName: 'a', context }], atMs: 1 }
  const sent = structuredClone(sendVerdict(decision)) as SentDecision
  const received = receiveDecision(sent)
  expect(received).toMatchObject({ key: 'start', atMs: 1 })
  expect(writeJson(received.events[0]?.context ?? null)).toBe(writeJson(context))
})

it('hands on what is no decision', () => {
  expect(sendVerdict({ checkAfterMs: 5 })).toEqual({ checkAfterMs: 5 })
  expect(sendVerdict(undefined)).toBeUndefined()
})
