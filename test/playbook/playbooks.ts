// Playbooks for the tests, written as their authors write them.
import type { Planned, Problem } from '../../src/domain/playbook/plan.js'
import { planOf } from '../../src/domain/playbook/planOf.js'

export const HEAD = 'apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: test, path: tests/test}\n'

/** A playbook with this below its head. */
export function planned(body: string): Planned {
  return planOf(HEAD + body)
}

export function problemsOf(body: string, severity?: Problem['severity']): string[] {
  const { problems } = planned(body)
  return problems
    .filter((problem) => severity === undefined || problem.severity === severity)
    .map(({ pointer, message }) => `${pointer}: ${message}`)
}
