// What is wrong with the parts of a playbook's metadata that registration acts upon: it refuses them, so that whoever checks a
// document must be told of them as well. An execution does not need them.

import { CpError } from '../../errors.js'
import { failureHookOf } from '../failures/failureHook.js'
import type { JsonObject } from '../json/value.js'
import type { Problem } from '../playbook/plan.js'
import { scheduleOf } from '../schedules/schedule.js'
import type { Violation } from './violation.js'

export function metadataProblems(document: JsonObject): Problem[] {
  return [scheduleOf, failureHookOf].flatMap((read) => {
    try {
      read(document)
      return []
    } catch (error) {
      return problemsOf(error)
    }
  })
}

function problemsOf(error: unknown): Problem[] {
  const violations = error instanceof CpError ? error.details['violations'] : undefined
  if (!Array.isArray(violations)) throw error
  return (violations as Violation[]).map(({ path, message }) => ({ pointer: path, severity: 'error', message }))
}
