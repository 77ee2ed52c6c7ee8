// The statuses of an execution, and what is said when there is none of that id.
import { CpError } from '../../errors.js'

export const TERMINAL_STATUSES = ['COMPLETED', 'FAILED', 'CANCELLED'] as const
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number]
export type ExecutionStatus = 'RUNNING' | TerminalStatus

export function isTerminalStatus(status: string): status is TerminalStatus {
  return (TERMINAL_STATUSES as readonly string[]).includes(status)
}

export function noSuchExecution(executionId: string): CpError {
  return new CpError('not_found', `there is no execution ${executionId}; see "noetl-cp execution list"`, {
    details: { executionId },
  })
}
