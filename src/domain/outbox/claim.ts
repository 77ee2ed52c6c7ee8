// Which rows an outside publisher may claim. Per execution only a run from its first unsettled row on: a row
// that waits or is on its way holds back the later rows of its own execution and no others. The rows of an execution are
// offered once, in outbox order.

export interface ClaimCandidate {
  outbox_id: string
  execution_id: string | null
  /** As stored; a bound on what the answer may weigh. */
  bytes: number
  /** Due, or abandoned by whoever claimed it. */
  claimable: boolean
  /** A dead row of its execution is ahead, and the policy is to hold. */
  behind_dead: boolean
}

export interface ClaimPlan {
  offer(rows: readonly ClaimCandidate[]): void
  wasOffered(executionId: string): boolean
  /** How many rows still fit. */
  room(): number
  chosen(): readonly ClaimCandidate[]
}

export function createClaimPlan(limits: { rows: number; bytes: number }): ClaimPlan {
  const chosen: ClaimCandidate[] = []
  const offered = new Set<string>()
  const blocked = new Set<string>()
  let bytes = 0
  let isFull = false

  function offer(row: ClaimCandidate): void {
    if (row.execution_id !== null) offered.add(row.execution_id)
    if (!row.claimable || row.behind_dead || blocked.has(row.execution_id ?? '')) {
      // A row without an execution has nobody to be in order with.
      if (row.execution_id !== null) blocked.add(row.execution_id)
      return
    }
    // One row always fits, or it could never be claimed.
    isFull = chosen.length >= limits.rows || (chosen.length > 0 && bytes + row.bytes > limits.bytes)
    if (isFull) return
    bytes += row.bytes
    chosen.push(row)
  }

  return {
    offer: (rows) => {
      for (const row of rows) if (!isFull) offer(row)
    },
    wasOffered: (executionId) => offered.has(executionId),
    room: () => (isFull ? 0 : limits.rows - chosen.length),
    chosen: () => chosen,
  }
}
