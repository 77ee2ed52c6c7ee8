// The plans a state thread works from. A plan is made of closures and stays in the thread that made it: a thread that does
// not know the plan of an execution says so, and is sent the text of its catalog entry once. Entries never change, a new
// version has a new id, so a plan is never stale. The text was judged under a deadline before anything was started from it.

import type { Planned } from '../../../domain/playbook/plan.js'
import { planOf } from '../../../domain/playbook/planOf.js'
import { LruMap } from '../../../runtime/lruMap.js'

const REMEMBERED = { entriesMax: 500, weightMax: 128 * 1_048_576 }
// Values and closures take several times the room of their text.
const BYTES_PER_CHARACTER = 10
const GRAPH_MATRICES = 3

export class Plans {
  private readonly known = new LruMap<string, Planned>(REMEMBERED)

  /** Undefined: the text has to be sent. */
  of(catalogId: string): Planned | undefined {
    return this.known.get(catalogId)
  }

  learn(catalogId: string, documentText: string): Planned {
    const planned = planOf(documentText)
    const steps = planned.plan?.steps.length ?? 0
    const weight = documentText.length * BYTES_PER_CHARACTER + (GRAPH_MATRICES * steps * steps) / 8
    this.known.set(catalogId, planned, weight)
    return planned
  }
}
