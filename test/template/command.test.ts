// Promise: `template eval` needs no server, prints the typed value as JSON with every digit, and names the place of a
// mistake. With --ndjson each line of input has exactly one line of answer, whatever is in it.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cli } from '../support/cli.js'

const evaluate = (...args: string[]) => cli(['template', 'eval', ...args])

describe('template eval', () => {
  it('prints the typed value', async () => {
    expect(await evaluate('{{ n + 1 }}', '--context', '{"n": 380600494935949312}')).toMatchObject({
      code: 0,
      stdout: '380600494935949313\n',
    })
    expect((await evaluate('{{ a }}', '--context', '{"a": ["1", 1.0]}')).stdout).toBe('["1",1.0]\n')
    expect((await evaluate('{{ missing }}')).stdout).toBe('null\n')
  })

  it('reads the context from a file', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'template-')), 'context.json')
    writeFileSync(file, '{"fetch": {"rows": [1, 2]}}')
    expect((await evaluate('fetch.rows | length > 1', '--context', file, '--as', 'condition')).stdout).toBe('true\n')
    expect(
      (await evaluate('{{ fetch.result.rows }}', '--context', file, '--as', 'loop', '--steps', 'fetch')).stdout,
    ).toBe('[1,2]\n')
  })

  it('names what is wrong and where', async () => {
    const ran = await evaluate('{{ 1 / 0 }}')
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toContain('template error at character 6: division by zero near "/ 0 }}"')
    expect((await evaluate('{{ 1 }}', '--as', 'nothing')).stderr).toContain(
      '--as must be one of value, condition, loop',
    )
    expect((await evaluate('{{ 1 }}', '--context', '/no/such/file')).stderr).toContain('there is no file /no/such/file')
    expect((await evaluate()).stderr).toContain('name a template')
  })

  it('answers every line', async () => {
    const lines = [
      '{"kind": "value", "template": "{{ a }}", "context": {"a": 1.0}}',
      '{"kind": "condition", "template": "a > 1", "context": {"a": 2}}',
      '{"kind": "loop", "template": "{{ a }}", "context": {"a": 2}}',
      '{"kind": "value", "template": "{{ a.result.b }}", "context": {"a": {"b": 3}}, "steps": ["a"]}',
      '{"kind": "value", "template": "{{ a", "context": {}}',
      '{"kind": "other", "template": "{{ a }}", "context": {}}',
      'no JSON',
      '[]',
    ]
    const ran = await cli(['template', 'eval', '--ndjson'], { input: `${lines.join('\n')}\n` })
    const answers = ran.stdout.trimEnd().split('\n')
    expect(ran.code).toBe(0)
    expect(answers.slice(0, 4)).toEqual(['{"value":1.0}', '{"value":true}', '{"value":[0,1]}', '{"value":3}'])
    expect(answers.slice(4).map((answer) => Object.keys(JSON.parse(answer)))).toEqual(Array(4).fill(['error']))
  })
})
