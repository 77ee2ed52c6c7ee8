// Checks a document without registering it.
import type { JsonObject } from '../../../domain/json/value.js'
import { type ValidationDeps, validateDocument } from '../../../services/catalog/validation.js'
import type { RouteSpec } from '../../route.js'
import { answerOf, COUNT, FLAG, TEXT, TEXT_OR_NULL } from '../../schema.js'

export interface PlaybookRouteDeps {
  catalog: ValidationDeps
}

export function playbookRoutes({ catalog }: PlaybookRouteDeps): RouteSpec[] {
  // The second is the name of before.
  return ['/api/catalog/validate', '/api/playbooks/validate'].map((path) => validateRoute(path, catalog))
}

function validateRoute(path: string, catalog: ValidationDeps): RouteSpec {
  return {
    method: 'POST',
    path,
    summary: 'Everything that is wrong with a document (YAML, or base64 of it), without registering it',
    access: 'public',
    effect: 'read',
    bodySize: 'event',
    body: {
      type: 'object',
      required: ['content'],
      properties: {
        content: { type: 'string', minLength: 1 },
        resource_type: { type: 'string', nullable: true, description: 'kind of a document that names none' },
      },
    },
    responses: {
      200: answerOf({
        valid: FLAG,
        path: TEXT_OR_NULL,
        kind: TEXT_OR_NULL,
        problems: {
          type: 'array',
          description: 'line and column, from 1, where the text tells them',
          items: answerOf({ pointer: TEXT, severity: TEXT, message: TEXT, line: COUNT, column: COUNT }),
        },
      }),
      413: 'larger than a document may be',
    },
    handler: async ({ body }) => {
      const given = body as JsonObject
      const type = given['resource_type']
      const verdict = await validateDocument(
        catalog,
        given['content'] as string,
        typeof type === 'string' ? type : undefined,
      )
      return {
        body: {
          valid: verdict.valid,
          path: verdict.document?.path ?? null,
          kind: verdict.document?.kind ?? null,
          problems: verdict.problems.map((problem) => ({ ...problem })),
        },
      }
    },
  }
}
