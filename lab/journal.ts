// What happened when: the faults that were injected, and every broken promise as soon as it is seen.
import type { FaultName } from './plan.js'

export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I8' | 'I9'

export const INVARIANTS: Record<Invariant, string> = {
  I1: 'what was acknowledged is in the log, what is in the outbox is in the stream, and nothing else is',
  I2: 'first deliveries of an execution are in the order of its outbox rows',
  I3: 'no message is stored twice within the duplicate window',
  I4: 'replay, live state, and snapshot plus tail agree',
  I5: 'the read model and the projection are the fold of the whole log',
  I6: 'a paused subscription starts nothing; every message starts exactly one execution',
  I7: 'processes end as documented and leave no lease behind',
  I8: 'nothing waits for ever, everything heals by itself, and nobody is ready who cannot work',
  I9: 'ids that daemons mint rise with the acknowledgements of an execution, and none comes twice',
}

export interface Violation {
  invariant: Invariant
  /** Counted in the verdict under this word. */
  kind: string
  message: string
  executionId?: string
  eventId?: string
  /** Seconds since the start of the run, if it was seen at a certain moment. */
  at?: number
}

export interface FaultRecord {
  name: FaultName
  victim: string
  /** Seconds since the start of the run. */
  from: number
  to?: number
}

export interface Journal {
  readonly faults: FaultRecord[]
  readonly violations: Violation[]
  /** Seconds that each daemon took to stop when asked. */
  readonly stops: number[]
  /** Faults that cannot be injected here, with the reason. */
  readonly skipped: { name: string; reason: string }[]
  seconds(): number
  report(violation: Violation): void
}

export function openJournal(say: (line: string) => void): Journal {
  const begun = performance.now()
  const journal: Journal = {
    faults: [],
    violations: [],
    stops: [],
    skipped: [],
    seconds: () => (performance.now() - begun) / 1000,
    report: (violation) => {
      const at = violation.at ?? journal.seconds()
      journal.violations.push({ ...violation, at })
      say(`VIOLATION ${violation.invariant} ${violation.kind}: ${violation.message}`)
    },
  }
  return journal
}
