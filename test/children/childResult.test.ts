// Promise: what a child gives to the step that waited for it has the same form however large it is; what is too large for an
// event is stored with the parent, and read from there like any other result.
import { expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/domain/json/value.js'
import {
  type ChildData,
  type ChildResultDeps,
  dataFor,
  withStoredParts,
} from '../../src/services/children/childResult.js'
import type { FamilyMember } from '../../src/stores/children/childStore.js'
import type { PutResult } from '../../src/tools/run/resultStore.js'

const CHILD = { execution_id: '7', status: 'COMPLETED', path: 'a/child', duration_ms: 5 } as FamilyMember
const WAITS = { executionId: '1', name: '1:p:1', step: 'p' }
const LARGE: JsonObject = { rows: [1, 2], status: 'own' }

async function given(stored: ChildData): Promise<{ answer: ChildData; put: PutResult[] }> {
  const put: PutResult[] = []
  const deps = {
    stepData: async () => stored,
    results: {
      get: async (ref: string): Promise<JsonValue> => (ref === 'noetl://r/1' ? LARGE : Promise.reject(new Error(ref))),
      put: async (result: PutResult) => {
        put.push(result)
        return { ref: 'noetl://r/2', bytes: 9 }
      },
    },
  }
  return { answer: await dataFor(deps as unknown as ChildResultDeps, CHILD, { step: 'mk', result: false }, WAITS), put }
}

it('has results of a loop that are stored one by one in their places', async () => {
  const end = {
    results: [{ _ref: 'noetl://r/1' }, 5],
    stats: {},
    references: [{ index: 0, ref: 'noetl://r/1', bytes: 9 }],
  }
  const put: PutResult[] = []
  const results = {
    get: async () => LARGE,
    put: async (result: PutResult) => {
      put.push(result)
      return { ref: 'noetl://r/2', bytes: 9 }
    },
  }
  const whole = await withStoredParts({ results }, { data: end }, WAITS)
  expect(put).toEqual([{ ...WAITS, data: { results: [LARGE, 5], data: [LARGE, 5], stats: {} } }])
  expect(whole).toMatchObject({ data: null, reference: { ref: 'noetl://r/2' } })
})

const FORM = { execution_id: '7', status: 'COMPLETED', result: LARGE, rows: [1, 2] }

it('is the data of the step with its fields beside it', async () => {
  expect(await given({ data: LARGE })).toEqual({ answer: { data: FORM }, put: [] })
})

it('is stored in that form where the data of the step is stored', async () => {
  const { answer, put } = await given({ data: null, reference: { ref: 'noetl://r/1' } })
  expect(put).toEqual([{ ...WAITS, data: FORM }])
  expect(answer).toMatchObject({ data: null, reference: { ref: 'noetl://r/2', extracted: { status: 'COMPLETED' } } })
})

it('has results of a loop in their places, in the form of a step, too', async () => {
  const list = { results: [{ rows: 'few' }, 5], references: [{ index: 0, ref: 'noetl://r/1', bytes: 9 }] }
  const { answer, put } = await given({ data: list })
  const whole = { results: [LARGE, 5], data: [LARGE, 5] }
  expect(put).toEqual([{ ...WAITS, data: { execution_id: '7', status: 'COMPLETED', result: whole, ...whole } }])
  expect(answer).toMatchObject({ data: null, reference: { ref: 'noetl://r/2' } })
})
