// What a dialog is about to do, or a list has asked for, as a command and as a request to copy: for a script, a runbook, another
// terminal.
import { PREFIX } from '../lib/prefix'
import { programOf, session } from '../lib/session'
import { CopyText } from './CopyText'

export interface Order {
  /** Words after `noetl-cp`, where a command does the same. */
  cli?: readonly string[]
  path: string
  /** As it is sent, or to be written as JSON. Undefined: it only asks. */
  body?: object | string
}

export function SameAct({ cli, path, body }: Order) {
  const daemon = window.location.origin + PREFIX
  const [kind, data] =
    body === undefined
      ? ['', '']
      : [
          ` -H 'content-type: application/json'`,
          ` -d ${quoted(typeof body === 'string' ? body : JSON.stringify(body))}`,
        ]
  const request = `curl ${quoted(daemon + path)}${kind}${bearer()}${data}`
  return (
    <details class="same">
      <summary>Copy as a command</summary>
      {cli !== undefined && (
        <CopyText text={`${programOf()} ${[...cli, '--url', daemon].map(quoted).join(' ')}`} name="for noetl-cp" />
      )}
      <CopyText text={request} name="for curl" />
    </details>
  )
}

const TOKENS = {
  none: 'NOETL_API_TOKEN',
  viewer: 'NOETL_VIEWER_TOKEN',
  writer: 'NOETL_API_TOKEN',
  operator: 'NOETL_INTERNAL_API_TOKEN',
} as const

/** The variable that holds the token, never the token. */
function bearer(): string {
  if (session.value === undefined || session.value.by === 'nothing') return ''
  return ` -H "authorization: Bearer $${TOKENS[session.value.role]}"`
}

function quoted(word: string): string {
  return /^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
