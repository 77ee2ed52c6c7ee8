// Asks again and again whether everything that was published is in the stream, and has it sent again if not. While the
// broker is merely slow or away nothing is missing, and nothing may be sent twice on its account.
import { runAudit } from '../audit.js'
import type { Load } from './loadContext.js'

const NOTHING_MISSING = 0
const SOME_MISSING = 5
const UNAVAILABLE = 69

export const auditOutbox: Load = async (context) => {
  const { site, ledger, journal } = context
  while (!context.isOver()) {
    await context.pause(4_000, 10_000)
    if (context.isOver()) return
    const at = journal.seconds()
    const { code, signal, stdout, stderr } = await runAudit(site, 10)
    ledger.counts.audits += 1
    if (code === NOTHING_MISSING || code === UNAVAILABLE) continue
    // A broker with an older disk has really lost something.
    if (code === SOME_MISSING && ledger.restored.times > 0) continue
    const said = `${stdout}${stderr}`.slice(0, 500)
    if (code === SOME_MISSING)
      journal.report({
        invariant: 'I1',
        kind: 'wrongly missing',
        at,
        message: `an audit misses what is there: ${said}`,
      })
    else
      journal.report({
        invariant: 'I7',
        kind: 'bad exit',
        at,
        message: `an audit ended with ${code ?? signal}: ${said}`,
      })
  }
}
