// Promise: /openapi.json is a valid document that clients can be generated from: every route with a name of its own, its
// protection, and a schema of what it answers.
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, it } from 'vitest'
import { writeJson } from '../../src/domain/json/write.js'
import { openApiDocument, operationId } from '../../src/http/openApi.js'
import type { RouteSpec } from '../../src/http/route.js'
import { buildRoutes } from '../../src/http/routes/index.js'
import type { Schema } from '../../src/http/schema.js'
import { systemClock } from '../../src/runtime/clock.js'

// Only their descriptions are looked at.
const routes = buildRoutes({ clock: systemClock } as Parameters<typeof buildRoutes>[0]).filter(
  ({ access }) => access !== 'page',
)

it('has nothing that a linter calls an error', async () => {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: writeJson(openApiDocument(routes, '1.2.3')), config })
  const errors = problems.filter(({ severity }) => severity === 'error')
  expect(errors.map(({ message, location }) => `${message} at ${location[0]?.pointer}`)).toEqual([])
})

it('names every operation once', () => {
  const names = routes.map(operationId)
  expect(names.toSorted()).toEqual([...new Set(names)].toSorted())
  expect(names).toContain('getExecutionsByExecutionIdStatus')
})

/** These answer something else than JSON of a fixed shape. */
const OTHER = [
  'GET /api/executions/:execution_id/tape',
  'GET /metrics',
  'GET /api/executions/:execution_id/events/stream',
  'GET /api/stream',
  'GET /api/executions/:execution_id/result',
  'GET /api/result/resolve',
  'GET /api/vars/:execution_id',
]

function isDescribed(answer: Schema | string | undefined): boolean {
  if (typeof answer !== 'object') return false
  if (answer.type === 'array') return isDescribed(answer.items)
  return answer.type === 'object' && Object.keys(answer.properties ?? {}).length > 0
}

it('describes what every route answers', () => {
  const bare = routes
    .filter((route: RouteSpec) => !isDescribed(route.responses[200] ?? route.responses[202]))
    .map(({ method, path }) => `${method} ${path}`)
  expect(bare.filter((name) => !OTHER.includes(name))).toEqual([])
})
