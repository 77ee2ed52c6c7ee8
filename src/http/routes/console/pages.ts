// The web console: its page and its assets. They hold no data, so they need no login; what they show they ask the API for,
// as whoever is logged in.
import type { IncomingHttpHeaders } from 'node:http'
import { CpError } from '../../../errors.js'
import { acceptsGzip } from '../../acceptsGzip.js'
import type { ApiReply, RouteSpec } from '../../route.js'
import { type ConsoleFile, createConsoleFiles } from './files.js'

/** Nothing from elsewhere, nothing inline, no text that becomes code: the one policy is for the addresses of workers. */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types noetl',
].join('; ')

const SAFE = {
  'content-security-policy': CONTENT_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'accept-encoding',
}
const PAGE_HEADERS = { ...SAFE, 'cache-control': 'no-store' }
const ASSET_HEADERS = { ...SAFE, 'cache-control': 'public, max-age=31536000, immutable' }

export interface ConsoleRouteDeps {
  /** What a proxy puts before our paths. */
  console: { prefix: string }
}

export function consoleRoutes({ console: about }: ConsoleRouteDeps): RouteSpec[] {
  const files = createConsoleFiles()
  const page = async (headers: IncomingHttpHeaders) => answer(await files.page(about.prefix), headers, PAGE_HEADERS)
  return [
    {
      method: 'GET',
      path: '/',
      summary: 'Leads browsers to the console',
      access: 'page',
      effect: 'read',
      responses: { 302: 'to the console' },
      handler: async ({ headers }) => {
        if (headers.accept?.includes('text/html') === true) {
          return { status: 302, headers: { ...PAGE_HEADERS, location: `${about.prefix}/console/` }, text: '' }
        }
        throw new CpError('not_found', 'there is no GET /; see /openapi.json')
      },
    },
    {
      method: 'GET',
      path: '/console',
      summary: 'The web console',
      access: 'page',
      effect: 'read',
      showsAll: true,
      responses: { 200: 'the page' },
      handler: async ({ headers }) => page(headers),
    },
    {
      method: 'GET',
      path: '/console/:place+',
      summary: 'An asset of the console, or one of its places, which the page finds by itself',
      access: 'page',
      effect: 'read',
      showsAll: true,
      responses: { 200: 'the asset or the page', 404: 'no such asset' },
      handler: async ({ params, headers }) => {
        const asset = /^assets\/(.*)$/s.exec(params['place']!)?.[1]
        if (asset === undefined) return page(headers)
        const file = await files.asset(asset)
        if (file === undefined) {
          throw new CpError(
            'not_found',
            'the console has no such file; load the page again, it may be of another version',
          )
        }
        return answer(file, headers, ASSET_HEADERS)
      },
    },
  ]
}

function answer(file: ConsoleFile, asked: IncomingHttpHeaders, headers: Readonly<Record<string, string>>): ApiReply {
  const isPressed = acceptsGzip(asked)
  return {
    contentType: file.contentType,
    bytes: isPressed ? file.pressed : file.plain,
    headers: isPressed ? { ...headers, 'content-encoding': 'gzip' } : headers,
  }
}
