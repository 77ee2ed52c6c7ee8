// How a page of executions is asked for: the pattern of a path, and the position where the next page starts
// as one opaque word. HTTP and command line speak the same.

import { CpError } from '../../errors.js'
import { parseWireTime } from '../events/wireTime.js'
import { parseExecutionId } from '../ids/ids.js'

export interface PagePosition {
  startTime: string
  executionId: string
}

/** For LIKE. What people type is literal, except for a star at the end. */
export function pathPattern(path: string | undefined): string | null {
  if (path === undefined || path === '') return null
  const isPrefix = path.endsWith('*')
  const literal = (isPrefix ? path.slice(0, -1) : path).replace(/[\\%_]/g, '\\$&')
  return isPrefix ? `${literal}%` : literal
}

export function formatCursor(position: PagePosition): string {
  return Buffer.from(`${position.startTime}|${position.executionId}`).toString('base64url')
}

export function parseCursor(text: string): PagePosition {
  const [startTime, executionId] = Buffer.from(text, 'base64url').toString('utf8').split('|')
  try {
    const time = parseWireTime(startTime, 'cursor')
    if (time !== undefined) return { startTime: time, executionId: parseExecutionId(executionId, 'cursor') }
  } catch {
    // Told below, in words that fit.
  }
  throw new CpError('invalid_input', 'cursor is not one of ours; start without it', { details: { field: 'cursor' } })
}
