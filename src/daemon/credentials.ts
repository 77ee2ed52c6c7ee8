// What the services of credentials work with, for the daemon and for subcommands.
import { CpError } from '../errors.js'
import { componentLog } from '../runtime/log.js'
import type { CredentialsDeps } from '../services/credentials/credentials.js'
import type { Ids } from '../services/ids/ids.js'
import type { Deps } from './deps.js'

export function credentialsDeps(
  deps: Deps,
  ids: Pick<Ids, 'next'> = noIds,
  onStored: () => void = () => undefined,
): CredentialsDeps {
  const log = componentLog(deps.log, 'credentials')
  return {
    databases: deps.databases,
    ids,
    keyring: deps.credentialKeyring,
    onStored,
    onRead: (name, executionId) => {
      deps.metrics.inc('noetl_cp_credential_reads_total')
      // Not `credential`: the log hides whatever stands under a name like that.
      log.info({ credentialName: name, executionId }, 'the values of a credential were read')
    },
  }
}

/** For commands that store nothing. */
const noIds: Pick<Ids, 'next'> = {
  next: () => {
    throw new CpError('internal', 'this command has no ids')
  },
}
