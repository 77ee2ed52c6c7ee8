// What the bundle holds in another form must mean the same.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { queriesStayYoung, withSharedShapes } from '../../scripts/fastForms.mjs'

const evaluated = (code: string): unknown => new Function(`return ${code}`)()

describe('shared shapes', () => {
  it.each([
    `({ ...{ a: 1, b: 2 }, c: 3, a: 4 })`,
    `({...[1, 2], length: 7})`,
    `({ ...undefined, ...null, ...'xy', z: [{ ...{ a: 1 }, b: { ...{ c: 2 }, d: 3 } }] })`,
    `({ ...JSON.parse('{"__proto__": {"x": 1}, "b": 2}'), c: 3 })`,
    `({ ...{ get a() { return 1 } }, get b() { return 2 }, ['c' + 1]: 3, d() { return 4 } }).d()`,
    `((order = []) => [{ ...order.push(1) && {}, a: order.push(2), ...order.push(3) && { b: 1 } }, order])()`,
  ])('%s', (code) => {
    const changed = withSharedShapes(code)
    expect(changed).toContain('...null, ...')
    const [before, after] = [evaluated(code), evaluated(changed)]
    expect(after).toStrictEqual(before)
    expect(JSON.stringify(after)).toBe(JSON.stringify(before))
    expect(Object.getOwnPropertyNames(Object(after))).toEqual(Object.getOwnPropertyNames(Object(before)))
  })

  it.each([`({ a: 1, ...{ b: 2 } })`, `({ ...{ a: 1 } })`, `[...[1], 2]`, `'{ ...x, y }'`])(
    '%s stays as it is',
    (code) => expect(withSharedShapes(code)).toBe(code),
  )
})

describe('queries of the driver', () => {
  const file = fileURLToPath(new URL('../../node_modules/postgres/src/query.js', import.meta.url))
  const code = readFileSync(file, 'utf8')

  it('are settled by functions that are no old objects', () => {
    const changed = queriesStayYoung.transform(code, file)
    expect(changed?.code).toMatch(/const resolveOnce = x => .*; this\.resolve = resolveOnce\n/)
    expect(changed?.code).toMatch(/const rejectOnce = x => .*; this\.reject = rejectOnce\n/)
  })

  it('are left alone elsewhere, and a driver that is written differently is noticed', () => {
    expect(queriesStayYoung.transform(code, '/src/query.js')).toBeNull()
    expect(() => queriesStayYoung.transform('this.resolve = 1', file)).toThrow('written differently')
    expect(() => queriesStayYoung.transform('this.resolve = 1', file)).toThrow('SETTLED_BY')
  })
})
