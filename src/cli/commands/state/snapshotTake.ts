// Stores a snapshot that later replays may start from.
import { replayDeps } from '../../../daemon/replay.js'
import { type ExecutionId, parseExecutionId } from '../../../domain/ids/ids.js'
import { CpError } from '../../../errors.js'
import { ownerOf } from '../../../services/replay/replay.js'
import { takenJson, takeSeed } from '../../../services/replay/seeds.js'
import type { CommandContext, CommandSpec, Input } from '../../command.js'
import { isSet, textOption } from '../../options.js'
import { toned } from '../../output.js'
import { type RemoteClient, thereOrHere } from '../../remote.js'

export const snapshotTake: CommandSpec = {
  path: ['snapshot', 'take'],
  changes: true,
  doing: 'taking the snapshot',
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
    const taken = await thereOrHere(
      context,
      (remote) => takeRemotely(remote, input, executionId),
      () => takeHere(context, input, executionId),
    )
    return {
      json: { execution_id: executionId, ...taken },
      blocks: [
        {
          kind: 'record',
          title: `Snapshot of execution ${executionId}`,
          entries: [
            ['stored', taken.stored ? toned('yes', 'good') : toned('no, a newer one is there', 'warn')],
            ['last event', taken.version],
            ['events', taken.event_count],
            ['events read', taken.events_read],
            ['size', `${taken.state_bytes} bytes, stored in ${taken.stored_bytes}`],
            ['checksum', taken.checksum],
          ],
        },
      ],
    }
  },
}

type Taken = ReturnType<typeof takenJson>

async function takeHere(context: CommandContext, input: Input, executionId: ExecutionId): Promise<Taken> {
  const deps = replayDeps(await context.deps())
  const owner = await ownerOf(deps, executionId)
  const log = {
    executionId,
    tenantId: textOption(input, 'tenant') ?? owner.tenantId,
    organizationId: textOption(input, 'organization') ?? owner.organizationId,
  }
  return takenJson(await takeSeed(deps, log, { full: isSet(input, 'full') }))
}

async function takeRemotely(remote: RemoteClient, input: Input, executionId: string): Promise<Taken> {
  for (const name of ['full', 'tenant', 'organization']) {
    if (input.options[name] !== undefined) throw new CpError('refused', `--${name} does not work over --url`)
  }
  const params = { execution_id: executionId }
  return (await remote.call('postInternalSnapshotsByExecutionIdTake', { params })) as Taken
}
