// Every example of the page on playbooks is a playbook without a mistake.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { planOf } from '../../src/domain/playbook/planOf.js'

const page = readFileSync(new URL('../../docs/playbooks.md', import.meta.url), 'utf8')
const examples = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text as string)

it('has examples', () => {
  expect(examples.length).toBeGreaterThan(5)
})

it.each(examples.map((text) => ({ name: /name: (\w+)/.exec(text)?.[1], text })))('plans $name', ({ text }) => {
  const { plan, problems } = planOf(text)
  expect(problems).toEqual([])
  expect(plan?.steps.length).toBeGreaterThan(0)
})
