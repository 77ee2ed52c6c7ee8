// What a round on one state has come to.
import type { Verdict } from '../../../domain/state/orchestrator.js'

export interface Advanced {
  found: boolean
  /** Rows of others have no number yet: the state is not complete before they have. */
  unadopted: boolean
  version: number
  applied: number
  bytes: number
  terminal: boolean
  resident: boolean
  verdict: Verdict | undefined
  /** Somebody decides by what happens in it, so it must be followed at once. */
  isDriven: boolean
  /** Its snapshot has fallen behind, and was not saved now. */
  isSaveDue?: boolean
}

/** Not in memory. */
export const NOWHERE: Advanced = {
  found: true,
  unadopted: false,
  version: 0,
  applied: 0,
  bytes: 0,
  terminal: false,
  resident: false,
  verdict: undefined,
  isDriven: true,
}
