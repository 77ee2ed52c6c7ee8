// Promise: the values of a run are a file under --payload under --set, with types and digits kept.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readPayload } from '../../src/cli/run/payload.js'

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

it('names what cannot be read', async () => {
  const given = (sets: string[], payload?: string) => readPayload({ file: undefined, payload, sets })
  await expect(given(['nothing'])).rejects.toThrow('--set must be key=value')
  await expect(given([], '{')).rejects.toThrow('--payload is not JSON')
  await expect(given([], '[1]')).rejects.toThrow('must hold a map')
})
