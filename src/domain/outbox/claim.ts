// Which rows an outside publisher may claim. Per execution only a run from its first unsettled row on: a row
// that waits, is on its way or lies in the lane of a relay holds back the later rows of its own execution and
// no others. Rows are offered in outbox order.

export interface ClaimCandidate {
  outbox_id: string
  execution_id: string | null
  /** As stored; a bound on what the answer may weigh. */
  bytes: number
  /** Due, or abandoned by whoever claimed it. */
  claimable: boolean
  /** Its lane is held by no relay. */
  free: boolean
  /** A dead row of its execution is ahead, and the policy is to hold. */
  behind_dead: boolean
}

export interface ClaimPlan {
  /** False once nothing more fits. */
  offer(row: ClaimCandidate): boolean
  chosen(): readonly ClaimCandidate[]
}

export function createClaimPlan(limits: { rows: number; bytes: number }): ClaimPlan {
  const chosen: ClaimCandidate[] = []
  const blocked = new Set<string>()
  let bytes = 0
  return {
    offer: (row) => {
      const mayGo = row.claimable && row.free && !row.behind_dead
      // Without an execution there is nobody to be in order with.
      if (row.execution_id === null ? mayGo : mayGo && !blocked.has(row.execution_id)) {
        // One row always fits, or it could never be claimed.
        if (chosen.length > 0 && bytes + row.bytes > limits.bytes) return false
        bytes += row.bytes
        chosen.push(row)
      } else if (row.execution_id !== null) {
        blocked.add(row.execution_id)
      }
      return chosen.length < limits.rows
    },
    chosen: () => chosen,
  }
}
