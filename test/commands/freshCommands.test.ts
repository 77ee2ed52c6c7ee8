// Promise: a command is remembered for its claim only in the form that the log gives back, only for workers, and not for long.
import { expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json/value.js'
import { writeJson } from '../../src/domain/json/write.js'
import type { Clock } from '../../src/runtime/clock.js'
import { createFreshCommands } from '../../src/services/commands/freshCommands.js'
import type { LogNews } from '../../src/services/events/logNews.js'

let now = 0
const open = () => createFreshCommands({ monotonic: () => now } as Clock)

const META = { command_id: '7:a:1', step: 'a', tool_kind: 'python', execution_pool: 'shared', actionable: true }

interface Given {
  type?: string
  context?: JsonObject
  meta?: JsonObject
  sealed?: string | null
  more?: object
}

function news(eventId: string, { type = 'command.issued', context = {}, meta = {}, sealed = null, more }: Given = {}) {
  const whole = { ...META, emitter: 'orchestrator', ...meta }
  const event = { executionId: '7', eventId, eventType: type, context, meta: whole, ...more }
  const parts = { context: writeJson(context), meta: writeJson(whole), result: undefined }
  return { executionId: '7', rows: [{ event, parts, sealed }] } as unknown as LogNews
}

it('knows the names, the pool and the content of a command until somebody has it', () => {
  const fresh = open()
  fresh.note(news('8', { context: { args: { n: 1 } } }))
  expect(fresh.find('8')).toMatchObject({
    names: { executionId: '7', eventId: '8', commandId: '7:a:1', step: 'a', kind: 'python' },
    pool: 'shared',
    issued: { context: { args: { n: 1 } } },
  })
  fresh.forget('8')
  expect(fresh.find('8')).toBeUndefined()
})

it.each<[string, Given]>([
  ['another event', { type: 'step.enter' }],
  ['one that no worker runs', { meta: { actionable: false } }],
  ['one that was handed over with the decision', { meta: { handed_over: true } }],
  ['one of another engine', { meta: { emitter: 'server' } }],
  ['one without a name', { meta: { command_id: null } }],
  ['one with sealed secrets', { sealed: 'text' }],
  ['one whose secrets could not be sealed', { more: { hidden: { '/context/key': 'x' } } }],
  ['one that was written elsewhere', { more: { written: { parts: {} } } }],
  ['numbers that the database spells differently', { context: { args: { n: 1e300 } } }],
])('leaves %s to the log', (_, given) => {
  const fresh = open()
  fresh.note(news('8', given))
  expect(fresh.find('8')).toBeUndefined()
})

it('forgets what nobody has claimed for a while, and what is too much', () => {
  const fresh = open()
  fresh.note(news('8'))
  now += 60_000
  expect(fresh.find('8')).toBeUndefined()
  for (let id = 100; id < 120; id++) fresh.note(news(String(id), { context: { text: 'x'.repeat(1_000_000) } }))
  expect(fresh.find('100')).toBeUndefined()
  expect(fresh.find('119')).toBeDefined()
})
