// What a verification found, for people and for programs.
import type { VerifyOutput } from '../../services/replay/replay.js'
import { EXIT } from '../exit.js'
import { type Output, toned } from '../output.js'
import { status } from './report.js'

export function verifyOutput(executionId: string, output: VerifyOutput): Output {
  const isEqual = output.checks.every((check) => check.ok)
  return {
    json: {
      execution_id: executionId,
      ok: isEqual,
      status: output.status,
      event_count: output.eventCount,
      checksum: output.checksum,
      checks: output.checks.map((check) => ({ ...check })),
    },
    blocks: [
      {
        kind: 'record',
        title: `Execution ${executionId}`,
        entries: [
          ['status', status(output.status)],
          ['events', output.eventCount],
          ['checksum', output.checksum],
        ],
      },
      {
        kind: 'table',
        title: 'Checks',
        columns: ['compared with', 'result', 'detail'],
        isProse: true,
        rows: output.checks.map(({ check, ok, skipped, detail }) => [
          check,
          skipped ? toned('skipped', 'dim') : ok ? toned('equal', 'good') : toned('DIFFERENT', 'bad'),
          detail,
        ]),
      },
    ],
    notes: [isEqual ? 'everything agrees' : 'something differs'],
    exitCode: isEqual ? EXIT.ok : EXIT.difference,
  }
}
