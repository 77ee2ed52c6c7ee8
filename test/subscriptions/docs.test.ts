// Promise: the drawing in docs/subscriptions.md is the transition table. UPDATE_DOCS=1 writes it.
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { allCommands } from '../../src/cli/commands/index.js'
import {
  SUBSCRIPTION_ACTIONS,
  SUBSCRIPTION_STATES,
  SUBSCRIPTION_TRANSITIONS,
  type SubscriptionState,
} from '../../src/domain/subscriptions/subscription.js'

const COMMANDS = await allCommands()

const FILE = new URL('../../docs/subscriptions.md', import.meta.url)
const BEGIN = '<!-- lifecycle:begin -->'
const END = '<!-- lifecycle:end -->'

function drawing(): string {
  const lines = ['```mermaid', 'stateDiagram-v2', '  [*] --> REGISTERED: register']
  const row = (state: SubscriptionState): string => {
    const cells = SUBSCRIPTION_ACTIONS.map((action) => {
      const { from, status } = SUBSCRIPTION_TRANSITIONS[action]
      if (!(from as readonly string[]).includes(state)) return '–'
      return status === state ? 'no change' : status
    })
    return `| ${state} | ${cells.join(' | ')} |`
  }
  for (const state of SUBSCRIPTION_STATES) {
    for (const action of SUBSCRIPTION_ACTIONS) {
      const { from, status } = SUBSCRIPTION_TRANSITIONS[action]
      if ((from as readonly string[]).includes(state) && status !== state)
        lines.push(`  ${state} --> ${status}: ${action}`)
    }
  }
  return [
    ...lines,
    '```',
    '',
    `| from | ${SUBSCRIPTION_ACTIONS.join(' | ')} |`,
    `| --- |${' --- |'.repeat(SUBSCRIPTION_ACTIONS.length)}`,
    ...SUBSCRIPTION_STATES.map(row),
  ].join('\n')
}

it('draws the table', () => {
  const before = readFileSync(FILE, 'utf8')
  const after = `${before.slice(0, before.indexOf(BEGIN) + BEGIN.length)}\n${drawing()}\n${before.slice(before.indexOf(END))}`
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, after)
  expect(readFileSync(FILE, 'utf8')).toBe(after)
})

it('names only commands that exist', () => {
  const known = new Set(COMMANDS.filter(({ path }) => path[0] === 'subscription').map(({ path }) => path[1]))
  const called = [...readFileSync(FILE, 'utf8').matchAll(/noetl-cp subscription (\w+)/g)].map((match) => match[1])
  expect(called.filter((name) => !known.has(name))).toEqual([])
})
