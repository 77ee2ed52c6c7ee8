// Promise: a form of a workload sends what was changed and nothing else, whatever its fields are called.
import { LosslessNumber } from 'lossless-json'
import { expect, it } from 'vitest'
import { consoleModule } from '../support/consoleModule.js'

const { fill } = await consoleModule('pages/catalog/runForm.ts')

const field = (name: string, kind: string) => ({
  ...{ name, kind, default: null, description: null, secret: false, credential_glob: null, options: [] },
})

it.each(['amount', 'constructor', 'toString', '__proto__'])('fills a field named %s', (name) => {
  const fields = [field(name, 'integer'), field('other', 'string')]
  expect(fill(fields, new Map())).toEqual({ workload: {}, refused: new Map() })
  const { workload, refused } = fill(fields, new Map([[name, '9007199254740993']]))
  expect(refused.size).toBe(0)
  expect(Object.entries(workload)).toEqual([[name, new LosslessNumber('9007199254740993')]])
  expect([...fill(fields, new Map([[name, 'many']])).refused.keys()]).toEqual([name])
})
