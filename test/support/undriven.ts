// Executions that nobody drives: they run until somebody ends them.
import { expect } from 'vitest'
import type { Daemon } from './binary.js'
import { playbook } from './core.js'

export async function startUndriven(daemon: Daemon, path: string, count: number): Promise<string[]> {
  await postTo(daemon, '/api/catalog/register', { content: playbook(path) })
  const { results } = await postTo(daemon, '/api/execute/batch', {
    executions: Array.from({ length: count }, () => ({ path, driven: false })),
  })
  return results.map((result: { execution_id: string }) => result.execution_id)
}

export async function postTo(daemon: Daemon, path: string, body: object): Promise<any> {
  const answer = await fetch(new URL(path, daemon.url), { method: 'POST', body: JSON.stringify(body) })
  expect(answer.status).toBe(200)
  return answer.json()
}
