// Writes src/client/operations.ts: the types of the client, from the same routes that the server mounts.
import { writeFileSync } from 'node:fs'
import { operationsSource } from './clientTypes.mjs'

const { openApiDocument } = await import('../dist/http/openApi.js')
const { systemClock } = await import('../dist/runtime/clock.js')
const { buildRoutes } = await import('../dist/http/routes/index.js')

// The version of the program is no part of the types.
writeFileSync(
  new URL('../src/client/operations.ts', import.meta.url),
  operationsSource(openApiDocument(buildRoutes({ clock: systemClock }), '')),
)
