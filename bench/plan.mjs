// The plan of a playbook of 1,000 steps: how long an execution waits for it the first time. The text is read before, as it
// is by whoever stores it; the steps have the shape and the number of templates that real ones have.
import { parseCatalogDocument } from '../dist/domain/catalog/catalogDocument.js'
import { planDocument } from '../dist/domain/playbook/planDocument.js'
import { median } from './lib/context.mjs'

const STEPS = 1_000
const ROUNDS = 15
const LIMIT_MS = 200

export default {
  name: 'plan',
  run: async () => {
    const { document } = parseCatalogDocument(playbookOf(STEPS))
    const times = []
    for (let round = 0; round < ROUNDS; round++) {
      const started = performance.now()
      const { plan, problems } = planDocument(document)
      times.push(performance.now() - started)
      if (plan === undefined) throw new Error(`the playbook has problems: ${JSON.stringify(problems.slice(0, 3))}`)
    }
    const ms = median(times)
    return [
      {
        name: `plan of ${STEPS} steps`,
        value: ms,
        unit: 'ms',
        ratio: ms / LIMIT_MS,
        target: '<= 1',
        note: `templates compiled, graph drawn; ratio to ${LIMIT_MS} ms`,
      },
    ]
  },
}

function playbookOf(count) {
  const steps = Array.from({ length: count }, (_, index) => {
    const next = index + 1 < count ? `step_${index + 1}` : 'end'
    return `  - step: step_${index}
    desc: Fetch page ${index} and remember where we are
    tool:
      kind: http
      method: GET
      url: '{{ workload.api_url }}/items/${index}?page={{ ctx.page_${index} }}'
      params: {size: '{{ workload.page_size }}'}
    set:
      ctx.page_${index}: '{{ (ctx.page_${index} | default(1) | int) + 1 }}'
    next:
      spec: {mode: exclusive}
      arcs:
        - step: step_${index}
          when: '{{ output.data.has_more and ctx.page_${index} < ${index} }}'
        - step: ${next}
`
  })
  return `apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: plan, path: bench/plan}
workload: {api_url: 'https://api.example.com', page_size: 100}
workflow:
${steps.join('')}`
}
