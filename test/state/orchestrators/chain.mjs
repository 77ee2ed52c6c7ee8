// Walks through a chain of steps: issues the next command when the one before is completed, and ends. A step named
// `poison` kills its thread the first time, which is how tests lose one.
import { existsSync, writeFileSync } from 'node:fs'
import { viewStep } from '../../../dist/domain/state/stepView.js'

const STEPS = 5

export default {
  decide: ({ executionId, state }) => {
    const marker = `/tmp/noetl-cp-poison-${executionId}`
    if (state.steps.has('poison') && !existsSync(marker)) {
      writeFileSync(marker, '')
      process.exit(3)
    }
    let last = 0
    for (let step = 1; step <= STEPS; step++) if (state.steps.has(`s${step}`)) last = step
    if (last > 0 && viewStep(`s${last}`, state.steps.get(`s${last}`)).state !== 'completed') return undefined
    if (last === STEPS) return { key: 'end', events: [{ eventType: 'playbook.completed', nodeName: 'playbook' }] }
    const step = `s${last + 1}`
    return {
      key: `issue:${step}`,
      events: [
        { eventType: 'step.enter', nodeName: step },
        { eventType: 'command.issued', nodeName: step, meta: { command_id: `${executionId}:${step}` } },
      ],
    }
  },
}
