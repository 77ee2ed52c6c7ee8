// Shows an execution while it runs, or after it has ended: one line per step.
import { parseExecutionId } from '../../../domain/ids/ids.js'
import { createApiClient } from '../../apiClient.js'
import type { CommandContext, CommandSpec } from '../../command.js'
import { isSet } from '../../options.js'
import { followRun } from '../../run/followRun.js'

export const executionWatch: CommandSpec = {
  path: ['execution', 'watch'],
  summary: 'Watch an execution to its end',
  description:
    'Shows the steps of an execution as "run" does, from its first event to its end. Ctrl-C stops watching; the execution goes on. --json prints every event and a summary. Exit codes: 0 completed, 1 failed or cancelled, 130 interrupted.',
  args: [{ name: 'id', help: 'execution id', completes: 'execution' }],
  options: [{ flags: '--result', help: 'print what it gives as JSON on standard output' }],
  examples: [['execution watch 320816801799737344', 'one line per step']],
  run: async (context, input) => {
    return watchToEnd(context, parseExecutionId(input.args['id'], 'id'), isSet(input, 'result'))
  },
}

/** Answers the exit code. */
export async function watchToEnd(context: CommandContext, executionId: string, showsResult = false): Promise<number> {
  const { httpUrl, token } = await context.instance()
  return followRun(context, {
    api: createApiClient(httpUrl, token),
    executionId,
    nameWidth: 0,
    timeoutMs: undefined,
    pointerOf: () => undefined,
    showsResult,
    cancels: false,
    isKept: true,
  })
}
