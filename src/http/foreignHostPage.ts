// What a browser is shown that came by a name which is not one of ours: the setting that would let it in. It holds no data
// and nothing that runs; programs get the same as JSON.
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply } from 'fastify'
import { CpError } from '../errors.js'
import type { RouteSpec } from './route.js'

const STYLE =
  'body{max-width:42rem;margin:3rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}code{overflow-wrap:anywhere}'

const HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

/** As requireOwnHost throws it. */
export function isForeignHost(error: unknown): error is CpError {
  return error instanceof CpError && 'foreignHost' in error.details
}

/** Whether a person would read the refusal. */
export function isForReader({ access }: Pick<RouteSpec, 'access'>, headers: IncomingHttpHeaders): boolean {
  return access === 'page' && headers.accept?.includes('text/html') === true
}

export function sendForeignHostPage(reply: FastifyReply, { details }: CpError): FastifyReply {
  const name = typeof details['foreignHost'] === 'string' ? details['foreignHost'] : undefined
  return reply.status(403).headers(HEADERS).type('text/html; charset=utf-8').send(page(name))
}

function page(name: string | undefined): string {
  const shown = name === undefined ? undefined : escaped(name)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>This name is not allowed · noetl-cp</title>
<style>${STYLE}</style>
</head>
<body>
<h1>noetl-cp does not answer to this name</h1>
<p>You came by ${shown === undefined ? 'a name that cannot be read' : `the name <code>${shown}</code>`}. This daemon has no API token, so it answers on its own machine only, by names such as <code>localhost</code>: any other could belong to somebody else.</p>
${shown === undefined ? '' : `<p>If the name is yours, add it to the setting and start the daemon again:</p>\n<p><code>NOETL_CP_ALLOWED_HOSTS=${shown}</code></p>\n`}<p>${shown === undefined ? 'The setting NOETL_CP_ALLOWED_HOSTS lists the names that are yours.' : 'Several names are separated by commas.'} With NOETL_API_TOKEN set, every name is answered, and every call needs the token.</p>
</body>
</html>
`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => ENTITIES[letter]!)
}
