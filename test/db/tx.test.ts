// Promise: the caller of a failed transaction sees the first error, whatever the rollback says, and a connection
// in an unknown state is never used again.
import { describe, expect, it } from 'vitest'
import type { Connection, Rows } from '../../src/db/connection.js'
import { statement } from '../../src/db/queries.js'
import { runTransaction } from '../../src/db/tx.js'

function fake(answers: Record<string, () => Promise<unknown>>) {
  const log: string[] = []
  let broken = false
  // Only what a transaction uses.
  const connection = {
    isBroken: () => broken,
    run: async <R>(query: { text: string }) => {
      log.push(query.text)
      const answer = answers[query.text]
      return Object.assign(((await answer?.()) ?? []) as R[], {
        count: 0,
        command: query.text.toUpperCase(),
      }) as Rows<R>
    },
    each: async () => undefined,
    discard: () => {
      log.push('discarded')
      broken = true
    },
  } as unknown as Connection
  const source = { acquire: async () => connection, release: () => log.push('released'), queryTimeoutMs: 1_000 }
  return { source, log, breakLink: () => (broken = true) }
}

const mine = new Error('mine')

describe('a failed transaction', () => {
  it('is rolled back, and the connection given back', async () => {
    const { source, log } = fake({})
    await expect(
      runTransaction(
        source,
        async (tx) => {
          await tx.run(statement('work'))
          throw mine
        },
        {},
      ),
    ).rejects.toBe(mine)
    expect(log).toEqual(['begin', 'work', 'rollback', 'released'])
  })
  it('whose rollback fails, too, keeps its first error and loses its connection', async () => {
    const { source, log } = fake({
      rollback: async () => {
        throw new Error('rollback failed')
      },
    })
    const work = runTransaction(source, () => Promise.reject(mine), {})
    await expect(work).rejects.toBe(mine)
    expect(log).toEqual(['begin', 'rollback', 'discarded', 'released'])
  })
  it('on a lost link does not even try to roll back', async () => {
    const { source, log, breakLink } = fake({})
    const work = runTransaction(
      source,
      async () => {
        breakLink()
        throw mine
      },
      {},
    )
    await expect(work).rejects.toBe(mine)
    expect(log).toEqual(['begin', 'released'])
  })
  it('that could not begin fails with that', async () => {
    const { source } = fake({ begin: () => Promise.reject(mine) })
    await expect(runTransaction(source, async () => 'done', {})).rejects.toBe(mine)
  })
})

describe('what nobody looks at', () => {
  it('travels with the commit', async () => {
    const log: string[] = []
    let answer: (() => void) | undefined
    const { source, log: sent } = fake({
      write: () =>
        new Promise<void>((resolve) => {
          answer = resolve
        }),
      commit: async () => {
        log.push('commit sent')
        answer?.()
      },
    })
    const work = runTransaction(
      source,
      async (tx) => {
        tx.finishWith(tx.run(statement('write')))
        return 'done'
      },
      {},
    )
    expect(await work).toBe('done')
    expect(sent).toEqual(['begin', 'write', 'commit', 'released'])
    expect(log).toEqual(['commit sent'])
  })
  it('fails the transaction when it fails', async () => {
    const { source, log } = fake({ write: () => Promise.reject(mine) })
    const work = runTransaction(source, async (tx) => tx.finishWith(tx.run(statement('write'))), {})
    await expect(work).rejects.toBe(mine)
    expect(log).toEqual(['begin', 'write', 'commit', 'rollback', 'released'])
  })
})

it('the kind of transaction is stated in BEGIN', async () => {
  const { source, log } = fake({})
  await runTransaction(source, async () => 1, { isolation: 'repeatable read', readOnly: true })
  expect(log).toEqual(['begin isolation level repeatable read read only', 'commit', 'released'])
})
