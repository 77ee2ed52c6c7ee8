// What `doctor` says about the protection of the API.
import type { ApiProtection } from '../../domain/access/apiProtection.js'
import type { Finding } from '../health/finding.js'

export function apiFindings(protection: ApiProtection): Finding[] {
  if (protection !== 'open') return []
  return [
    {
      level: 'advice',
      where: 'api',
      finding:
        'the public API is open: NOETL_ALLOW_OPEN_API lets everybody who reaches it write without a token, and start code where that is allowed',
      fix: 'set NOETL_API_TOKEN and unset NOETL_ALLOW_OPEN_API, unless something in front of it asks for a token',
    },
  ]
}
