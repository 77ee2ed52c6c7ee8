import type { Deps } from '../../../daemon/deps.js'
import { examineInstance } from '../../../daemon/doctor.js'
import { apiFacts } from '../../../daemon/protection.js'
import { API_PROTECTIONS, type ApiProtection, apiProtection } from '../../../domain/access/apiProtection.js'
import { apiFindings } from '../../../services/access/apiDoctor.js'
import type { Finding } from '../../../services/health/finding.js'
import { askDaemon } from '../../askDaemon.js'
import type { CommandSpec } from '../../command.js'
import { parseGauges, totalsBy } from '../../daemonGauges.js'
import { EXIT } from '../../exit.js'
import type { Instance } from '../../instance.js'
import { toned } from '../../output.js'
import { thereOrHere } from '../../remote.js'

export const doctor: CommandSpec = {
  path: ['doctor'],
  doing: 'looking for trouble',
  summary: 'Look for trouble, and say how to mend it',
  description:
    'Checks every database (schema drift, missing indexes, dead rows, old transactions, durability), NATS (stream, durability) and subscriptions (in trouble, paused or draining for long, driven by nobody, without their consumer, messages given up). Each finding comes with the command or SQL that mends it. Exit code 5 when there is a problem; advice alone is 0.',
  examples: [
    ['doctor', 'all findings'],
    ['doctor --json | jq .findings', 'for a monitoring job'],
  ],
  run: async (context) => {
    const findings = await thereOrHere(
      context,
      async (remote) => ((await remote.call('getDoctor', {})).findings ?? []) as Finding[],
      async () => {
        const deps = await context.deps()
        const found = await examineInstance(deps)
        return [...found, ...apiFindings(await protectionOf(await context.instance(), deps))]
      },
    )
    const problems = findings.filter((finding) => finding.level === 'problem').length
    const blocks = findings.map((finding) => ({
      kind: 'record' as const,
      title: `${finding.where}`,
      entries: [
        [finding.level, toned(finding.finding, finding.level === 'problem' ? 'bad' : 'warn')],
        ['fix', finding.fix],
      ] as const,
    }))
    return {
      json: { problems, findings: findings.map((finding) => ({ ...finding })) },
      blocks: blocks.length > 0 ? blocks : [{ kind: 'text', text: 'no findings: everything looks well' }],
      notes: [problems === 0 ? 'no problems found' : `${problems} problem(s) found`],
      exitCode: problems === 0 ? EXIT.ok : EXIT.difference,
    }
  },
}

/** As the daemon says; from the settings at hand when it does not answer. */
async function protectionOf({ httpUrl }: Instance, deps: Deps): Promise<ApiProtection> {
  const { text } = await askDaemon(httpUrl, '/metrics')
  const levels = totalsBy(parseGauges(text), 'noetl_cp_api_protection', 'level')
  const said = API_PROTECTIONS.find((level) => levels[level] === 1)
  // Whether credentials are stored is the daemon's to look up: only a setting that opens the API matters here.
  return said ?? apiProtection(apiFacts(deps.config, true))
}
