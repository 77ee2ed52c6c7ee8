// Stores a snapshot that later replays may start from.
import { replayDeps } from '../../../daemon/replay.js'
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { ownerOf } from '../../../services/replay/replay.js'
import { takeSeed } from '../../../services/replay/seeds.js'
import type { CommandSpec } from '../../command.js'
import { isSet, textOption } from '../../options.js'
import { toned } from '../../output.js'

export const snapshotTake: CommandSpec = {
  path: ['snapshot', 'take'],
  doing: 'taking the snapshot',
  localBecause: 'it folds the log itself and writes the snapshot',
  summary: 'Store the state of an execution for later replays to start from',
  description:
    'Folds the execution and stores the complete state. Replays with --from-snapshot then only read the events after it; the result is the same. A snapshot is checked before each use and never believed blindly.',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  options: [
    { flags: '--full', help: 'fold from the first event instead of continuing the snapshot that is there' },
    { flags: '--tenant <id>', help: 'tenant; usually that of the execution' },
    { flags: '--organization <id>', help: 'organisation; usually that of the execution' },
  ],
  examples: [['snapshot take 320816801799737344', 'store a snapshot of one execution']],
  run: async (context, input) => {
    const executionId = parseExecutionId(input.args['id'], 'id')
    const deps = replayDeps(await context.deps())
    const owner = await ownerOf(deps, executionId)
    const log = {
      executionId,
      tenantId: textOption(input, 'tenant') ?? owner.tenantId,
      organizationId: textOption(input, 'organization') ?? owner.organizationId,
    }
    const taken = await takeSeed(deps, log, { full: isSet(input, 'full') })
    return {
      json: {
        execution_id: executionId,
        aggregate_id: taken.aggregateId,
        version: taken.version,
        event_count: taken.eventCount,
        events_read: taken.eventsRead,
        checksum: taken.checksum,
        continued: taken.continued,
        state_bytes: taken.stateBytes,
        stored_bytes: taken.storedBytes,
        stored: taken.stored,
      },
      blocks: [
        {
          kind: 'record',
          title: `Snapshot of execution ${executionId}`,
          entries: [
            ['stored', taken.stored ? toned('yes', 'good') : toned('no, a newer one is there', 'warn')],
            ['last event', taken.version],
            ['events', taken.eventCount],
            ['events read', taken.eventsRead],
            ['size', `${taken.stateBytes} bytes, stored in ${taken.storedBytes}`],
            ['checksum', taken.checksum],
          ],
        },
      ],
    }
  },
}
