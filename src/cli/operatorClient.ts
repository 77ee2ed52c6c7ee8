// The API of the daemon, as an operator calls it.
import { CpError } from '../errors.js'
import type { CommandContext } from './command.js'
import { clientOf, type RemoteClient } from './remote.js'

/** Jobs are for operators, and live in the daemon. */
export async function operatorClient(context: CommandContext): Promise<RemoteClient> {
  const { httpUrl, endpoints } = await context.instance()
  const token = context.config().config.remoteToken ?? endpoints.internalTokens[0]
  if (token !== undefined) return clientOf(httpUrl, token)
  throw new CpError(
    'forbidden',
    'jobs are for operators: give the internal token (NOETL_INTERNAL_API_TOKEN, or --token)',
  )
}
