// Commands over HTTP: with --url a command speaks to that daemon alone and needs no database. What cannot be asked that
// way says so.
import { ApiError, type Client, createClient } from '../client/index.js'
import { CpError } from '../errors.js'
import { codeOfStatus } from './apiClient.js'
import type { CommandContext } from './command.js'

/** Undefined: the command works on the database, as usual. */
export function remoteClient(context: CommandContext): RemoteClient | undefined {
  const { remoteUrl: url, remoteToken: token } = context.config().config
  if (url === undefined) return undefined
  const client = createClient({ url, token })
  return {
    call: async (name, options) => {
      try {
        return await client.call(name, options)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        throw new CpError(codeOfStatus(error.status), error.message, { cause: error })
      }
    },
  }
}

export type RemoteClient = Pick<Client, 'call'>

export function needsDatabase(): CpError {
  return new CpError(
    'refused',
    'this command works on the database and not over --url; run it where the database is, or see "noetl-cp help" for the routes of the API',
  )
}
