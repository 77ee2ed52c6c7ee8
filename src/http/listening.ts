// Checks at the start whether the daemon can listen: a port in use, an address of another machine or an unreadable
// certificate is reported at once, before databases are prepared.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { createSecureContext } from 'node:tls'
import { CpError, messageOf } from '../errors.js'

export interface TlsFiles {
  certPath: string
  keyPath: string
  clientCaPath: string | undefined
}

/** Takes the address for a moment and gives it back. */
export async function assertCanListen(host: string, port: number): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()))
  }).catch((error: unknown) => {
    throw listenError(error, host, port)
  })
}

/** What a failed listen() means for the person who started the daemon. */
export function listenError(error: unknown, host: string, port: number): unknown {
  const refused = (text: string): CpError => new CpError('refused', text, { cause: error })
  switch ((error as { code?: string }).code) {
    case 'EADDRINUSE':
      return refused(`port ${port} of ${host} is taken; stop what listens there or choose --port`)
    case 'EACCES':
      return refused(`this user may not listen on port ${port} of ${host}; choose a port above 1023 with --port`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return refused(`${host} is not an address of this machine; choose another with --host, for instance 127.0.0.1`)
    default:
      return error
  }
}

/** The files of the TLS settings, read and found to fit together. */
export function readTlsFiles(files: TlsFiles): { cert: Buffer; key: Buffer; ca?: Buffer } {
  const cert = readNamed('NOETL_TLS_CERT', files.certPath)
  const key = readNamed('NOETL_TLS_KEY', files.keyPath)
  const ca = files.clientCaPath === undefined ? {} : { ca: readNamed('NOETL_TLS_CLIENT_CA', files.clientCaPath) }
  try {
    createSecureContext({ cert, key, ...ca })
  } catch (error) {
    throw new CpError(
      'config',
      `the certificate ${files.certPath} and the key ${files.keyPath} cannot be used: ${messageOf(error)}; ` +
        'both must be PEM files and belong together',
      { cause: error },
    )
  }
  return { cert, key, ...ca }
}

function readNamed(setting: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new CpError('config', `${setting}: cannot read ${path}: ${messageOf(error)}`, { cause: error })
  }
}
