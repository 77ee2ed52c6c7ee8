// Reads what is new in the logs of executions. Questions that come while a statement is under way share the next one:
// for an event or two of each of many executions, statements cost more than rows.
import type { Queryable } from '../../../db/db.js'
import { toCpError } from '../../../errors.js'
import { readTail, readTails, type Tail } from '../../../stores/state/stateStore.js'

export interface TailReader {
  /** Undefined: there is no such execution. */
  read(executionId: string, afterVersion: number): Promise<Tail | undefined>
}

interface Question {
  executionId: string
  afterVersion: number
  resolve(tail: Tail | undefined): void
  reject(error: unknown): void
}

const ACTIVE_MAX = 2
const SHARED_MAX = 64
// Of each; whoever has more goes on alone.
const SHARED_EVENTS = 20

export function createTailReader(db: Queryable, page: number): TailReader {
  const waiting: Question[] = []
  let active = 0
  let isCalled = false

  /** After whatever else came in with it. */
  function call(): void {
    if (isCalled || active >= ACTIVE_MAX || waiting.length === 0) return
    isCalled = true
    setImmediate(() => {
      isCalled = false
      void flush()
    })
  }

  async function flush(): Promise<void> {
    const questions = waiting.splice(0, SHARED_MAX)
    active += 1
    call()
    try {
      const [first, second] = questions
      if (first !== undefined && second === undefined) {
        first.resolve(await readTail(db, first.executionId, first.afterVersion, page))
      } else {
        const tails = await readTails(db, questions, SHARED_EVENTS)
        for (const question of questions) question.resolve(tails.get(question.executionId))
      }
    } catch (error) {
      for (const { reject } of questions) reject(toCpError(error))
    } finally {
      active -= 1
      call()
    }
  }

  return {
    read: (executionId, afterVersion) =>
      new Promise((resolve, reject) => {
        waiting.push({ executionId, afterVersion, resolve, reject })
        call()
      }),
  }
}
