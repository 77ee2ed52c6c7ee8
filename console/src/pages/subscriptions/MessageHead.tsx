// What a message holds: its headers and its body, as far as they can be shown; secrets are taken out by the daemon.
import { type Json, jsonText } from '../../lib/losslessJson'

const SHOWN_MAX = 2_000

export function MessageHead({ headers, body }: { headers: Json; body: Json }) {
  const lines = Object.entries((headers ?? {}) as Record<string, Json>).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : jsonText(value)}`,
  )
  const text = typeof body === 'string' ? body : body === null ? '' : jsonText(body)
  const nothing = body === null ? 'Nothing of its body can be shown here.' : 'Its body is empty.'
  return (
    <details>
      <summary>Message</summary>
      {lines.length > 0 && <pre>{lines.join('\n')}</pre>}
      {text === '' ? (
        <p class="muted">{nothing}</p>
      ) : (
        <pre class="section">{text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text}</pre>
      )}
    </details>
  )
}
