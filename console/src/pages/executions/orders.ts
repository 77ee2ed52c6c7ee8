// What can be told to one execution, as a request and as a command.
import type { Order } from '../../parts/SameAct'

export const ENDINGS = {
  label: 'End as',
  options: [
    { value: 'FAILED', name: 'FAILED' },
    { value: 'COMPLETED', name: 'COMPLETED' },
  ],
} as const

export function cancelOrder(id: string, reason: string): Order {
  return orderOf(id, 'cancel', why(reason))
}

export function adoptOrder(id: string, reason: string): Order {
  return orderOf(id, 'adopt', why(reason))
}

export function finalizeOrder(id: string, reason: string, status: string): Order {
  return orderOf(id, 'finalize', { status, ...why(reason) })
}

export function rerunOrder(id: string, reason: string): Order {
  return orderOf(id, 'rerun', why(reason))
}

function why(reason: string): Record<string, string> {
  return reason === '' ? {} : { reason }
}

/** Each value of the request is an option of the command. */
function orderOf(id: string, action: string, body: Readonly<Record<string, string>>): Order {
  const options = Object.entries(body).flatMap(([name, value]) => [`--${name}`, value])
  return { cli: ['execution', action, id, ...options], path: `/api/executions/${id}/${action}`, body }
}
