// Directives of `spec.headers` by which the sender of a pushed message chooses among playbooks or pools that the document
// allows: {header: x-noetl-route, controls: dispatch.playbook, allowed: [a, b]}.
import { CpError } from '../../errors.js'
import type { Reader } from '../catalog/violation.js'
import { isJsonObject, type JsonObject } from '../json/value.js'

const CONTROLS = ['dispatch.playbook', 'dispatch.execution_pool']

export interface Route {
  playbook: string
  executionPool: string | undefined
}

export function isRouting(controls: unknown): boolean {
  return typeof controls === 'string' && CONTROLS.includes(controls)
}

/** Messages that are pulled start in batches of one playbook, so no header of theirs can choose another. */
export function checkRouting(directive: Reader, isPulledHere: boolean): void {
  if (!isRouting(directive.value('controls'))) return
  const allowed = directive.value('allowed')
  if (isPulledHere) {
    directive.wrong(
      'controls',
      'is not possible in mode pull here: use one subscription per playbook, or driver: external',
    )
  } else if (!Array.isArray(allowed) || allowed.length === 0 || !allowed.every((one) => typeof one === 'string')) {
    directive.wrong('allowed', 'must be a list of the values that the header may have')
  }
}

/** Of a subscription's spec. */
export interface Routed {
  dispatch: { playbook: string; executionPool?: string }
  headers?: JsonObject
}

/** Throws for a value that is not allowed: another playbook than the sender wants would be worse. */
export function routeOf(spec: Routed, header: (name: string) => string | undefined): Route {
  const route: Route = { playbook: spec.dispatch.playbook, executionPool: spec.dispatch.executionPool }
  const directives = spec.headers?.['directives']
  for (const directive of Array.isArray(directives) ? directives : []) {
    if (!isJsonObject(directive) || !isRouting(directive['controls'])) continue
    const name = String(directive['header'])
    const value = header(name)
    if (value === undefined || value === '') continue
    const { allowed } = directive
    if (!Array.isArray(allowed) || !allowed.includes(value)) {
      throw new CpError('refused', `the header ${name} has a value that this listener does not allow`)
    }
    if (directive['controls'] === 'dispatch.playbook') route.playbook = value
    else route.executionPool = value
  }
  return route
}
