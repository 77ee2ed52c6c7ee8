// Promise: the values of a run are the workload under a file under --payload under --set, with types and digits kept.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PayloadOptions, payloadOver, readValues } from '../../src/cli/run/payload.js'
import type { JsonObject } from '../../src/domain/json/value.js'
import { planOf } from '../../src/domain/playbook/planOf.js'

const readPayload = async (options: PayloadOptions) => payloadOver(await readValues(options), undefined)

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'noetl-cp-payload-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('lays each over the one before, key by key', async () => {
  const file = join(folder, 'values.yaml')
  await writeFile(file, 'a: 1\nb: {c: 2}\nd: file\n')
  const merged = await readPayload({ file, payload: '{"d": "payload", "e": 5}', sets: ['e=6', 'b.x=true'] })
  expect(merged).toEqual({ a: 1, b: { c: 2, x: true }, d: 'payload', e: 6 })
})

it('reads JSON where it is JSON, text where it is not, and text where that is forced', async () => {
  const sets = ['n=9007199254740993', 'list=[1, 2]', 'word=hello', 'code:=007', 'eq=a=b', '__proto__.x=1']
  const merged = await readPayload({ file: undefined, payload: undefined, sets })
  expect(merged?.['n']).toBe(9007199254740993n)
  expect([merged?.['list'], merged?.['word'], merged?.['code'], merged?.['eq']]).toEqual([
    [1, 2],
    'hello',
    '007',
    'a=b',
  ])
  expect(({} as Record<string, unknown>)['x']).toBeUndefined()
})

it('takes the name of a value as templates write it', async () => {
  const sets = ['workload.a=1', 'workload.b.c=2', 'workload={"d": 3}']
  const merged = await readPayload({ file: undefined, payload: undefined, sets })
  expect(merged).toEqual({ a: 1, b: { c: 2 }, workload: { d: 3 } })
})

async function over(workload: string, sets: string[], payload?: string): Promise<JsonObject | undefined> {
  const head = 'apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: t}\n'
  const { plan } = planOf(`${head}workload: ${workload}\nworkflow: [{step: a, tool: {kind: noop}}]\n`)
  expect(plan).toBeDefined()
  return payloadOver(await readValues({ file: undefined, payload, sets }), plan)
}

it('goes deeper into the defaults of the playbook, and keeps the rest of them', async () => {
  const workload = '{a: {b: 1, c: {d: 12345678901234567890, e: 2}}, other: 1}'
  expect(await over(workload, ['a.b=9', 'workload.a.c.e=8'])).toEqual({
    a: { b: 9, c: { d: 12345678901234567890n, e: 8 } },
  })
  expect(await over(workload, ['a.b=9'], '{"a": {"x": 1}}')).toEqual({ a: { x: 1, b: 9 } })
  expect(await over(workload, ['other.x=1', 'new.y=2'])).toEqual({ other: { x: 1 }, new: { y: 2 } })
  expect(await over(workload, [], '{"n": 1}')).toEqual({ n: 1 })
  expect(await over(workload, [])).toBeUndefined()
})

it('replaces items of lists, and refuses those that are not there', async () => {
  const workload = '{l: [1, {x: 2, y: 3}, 4], none: [], one: [1]}'
  expect(await over(workload, ['l.0=9', 'l.1.x=8'])).toEqual({ l: [9, { x: 8, y: 3 }, 4] })
  expect(await over(workload, ['l.2=9'], '{"l": [5, 6, 7]}')).toEqual({ l: [5, 6, 9] })
  await expect(over(workload, ['l.3=9'])).rejects.toThrow(
    `--set l.3: l is a list of 3 items, 0 to 2, and has no item "3"; to change its length give all of it: --set 'l=[…]'`,
  )
  await expect(over(workload, ['l.x=9'])).rejects.toThrow('has no item "x"')
  await expect(over(workload, ['none.0=9'])).rejects.toThrow('none is an empty list')
  await expect(over(workload, ['one.1=9'])).rejects.toThrow('one is a list of one item, 0, and')
})

it('takes no template along that a payload would make a text', async () => {
  const workload = `{a: {b: 1, id: 'x-{{ execution_id }}'}, t: '{{ execution_id }}'}`
  await expect(over(workload, ['a.b=2'])).rejects.toThrow(
    `--set a.b: a.id beside it is a template in the workload, and would stay text; give all of it: --set 'a=…'`,
  )
  expect(await over(workload, ['a.id=mine', 't=2'])).toEqual({ a: { b: 1, id: 'mine' }, t: 2 })
  expect(await over(workload, ['a={"b": 2}'])).toEqual({ a: { b: 2 } })
  expect(await over(workload, ['a.b=2'], '{"a": {}}')).toEqual({ a: { b: 2 } })
})

it('names what cannot be read', async () => {
  const given = (sets: string[], payload?: string) => readPayload({ file: undefined, payload, sets })
  await expect(given(['nothing'])).rejects.toThrow('--set must be key=value')
  await expect(given([], '{')).rejects.toThrow('--payload is not JSON')
  await expect(given([], '[1]')).rejects.toThrow('must hold a map')
})
