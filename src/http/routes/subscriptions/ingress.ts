// Pushed messages: POST /ingress/{listener}, with its own verification, and the route from which a gateway in front
// of us reads the settings of a listener.
import type { IncomingHttpHeaders } from 'node:http'
import type { Admitted, Ingress } from '../../../services/subscriptions/ingress.js'
import type { RouteSpec } from '../../route.js'
import { ANY, answerOf, COUNT, FLAG, TEXT, TEXT_OR_NULL } from '../../schema.js'
import { traceContextOf } from '../../traceContext.js'

export interface IngressRouteDeps {
  ingress: Ingress
}

export function ingressRoutes({ ingress }: IngressRouteDeps): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: '/ingress/:listener',
      summary: 'Push a message; verified by the signature or token of the listener, starts one execution',
      access: 'open',
      effect: 'write',
      rawBody: true,
      bodySize: 'event',
      admit: ({ params, headers }) =>
        ingress.admit({ listener: params['listener'] ?? '', header: (name) => headerOf(headers, name) }),
      responses: {
        202: { type: 'object', properties: { status: { type: 'string' }, execution_id: { type: 'string' } } },
        400: 'no usable message',
        401: 'not verified',
        404: 'no such listener, or deactivated',
        413: 'larger than NOETL_CP_EVENT_LIMIT_MB',
        503: 'registered, paused or draining; Retry-After says when',
      },
      handler: async ({ params, headers, rawBody, admitted }) => {
        const { executionId } = await ingress.receive({
          listener: params['listener'] ?? '',
          body: rawBody ?? Buffer.alloc(0),
          admitted: admitted as Admitted,
          header: (name) => headerOf(headers, name),
          headers: () => flat(headers, isShown),
          traceContext: traceContextOf(headers),
        })
        return { status: 202, body: { status: 'accepted', execution_id: executionId } }
      },
    },
    {
      method: 'GET',
      path: '/api/internal/ingress/:listener',
      // The gateway is given the secret it verifies with.
      showsAll: true,
      summary:
        'How to verify and dispatch what a listener receives, its secret included; registers one that is in the catalog alone',
      access: 'internal',
      effect: 'read',
      responses: {
        200: answerOf({
          listener: TEXT,
          catalog_path: TEXT,
          source: TEXT,
          subscription_id: TEXT,
          state: TEXT,
          verify: { type: 'object', description: 'type, and what it needs' },
          dispatch: answerOf({ playbook: TEXT, payload_from: TEXT, execution_pool: TEXT_OR_NULL }),
          dedup: answerOf({ enabled: FLAG, window_secs: COUNT }),
          directives: ANY,
        }),
        404: 'no live subscription has this listener',
      },
      handler: async ({ params }) => ({ body: await ingress.describe(params['listener'] ?? '') }),
    },
  ]
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name.toLowerCase()]
  return Array.isArray(value) ? value[0] : value
}

/** What proves who sent it is not for payloads. */
function isShown(name: string): boolean {
  return !/^(authorization|cookie|proxy-authorization)$/.test(name)
}

function flat(headers: IncomingHttpHeaders, isWanted: (name: string) => boolean): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || !isWanted(name)) continue
    found[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return found
}
