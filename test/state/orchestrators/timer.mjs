// Ends an execution a second and a half after it was first asked about it, and until then wants to be asked again.
const WAIT_MS = 1_500
const since = new Map()

export default {
  decide: ({ executionId, nowMs }) => {
    const began = since.get(executionId) ?? nowMs
    since.set(executionId, began)
    if (nowMs - began < WAIT_MS) return { checkAfterMs: WAIT_MS - (nowMs - began) }
    return { key: 'end', events: [{ eventType: 'playbook.completed', nodeName: 'playbook' }] }
  },
}
