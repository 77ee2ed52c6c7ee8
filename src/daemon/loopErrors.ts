// What happens when a pass of a background loop fails: counted always, logged when it starts and once a
// minute while it lasts. The loop itself goes on.
import type { CpError } from '../errors.js'
import { componentLog } from '../runtime/log.js'
import type { Deps } from './deps.js'

const REPEAT_MS = 60_000

export function loopErrors(deps: Deps, loop: string): (error: CpError) => void {
  const log = componentLog(deps.log, loop)
  deps.metrics.declare('noetl_cp_loop_errors_total', { loop })
  let lastMessage = ''
  let lastAt = Number.NEGATIVE_INFINITY
  return (error) => {
    deps.metrics.inc('noetl_cp_loop_errors_total', { loop })
    const now = deps.clock.monotonic()
    if (error.message === lastMessage && now - lastAt < REPEAT_MS) return
    lastMessage = error.message
    lastAt = now
    if (error.code === 'internal') log.error({ err: error }, 'pass failed')
    else log.warn({ reason: error.message }, 'pass failed; trying again')
  }
}
