// Where a run happens: the instance that is running, or a private one that lives as long as the run. A private one uses the
// data folder of this user, so that what ran can be looked at later; when another private run holds it, a folder of its own
// that is removed at the end.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isProduction } from '../../daemon/endpoints.js'
import { readRuntimeFile } from '../../embedded/runtimeFile.js'
import { CpError, isTransient, toCpError } from '../../errors.js'
import { createLog } from '../../runtime/log.js'
import type { Seen } from '../../services/worker/worker.js'
import { type ApiClient, createApiClient } from '../apiClient.js'
import type { CommandContext } from '../command.js'
import { howToCall } from '../howToCall.js'
import { wantsColor } from '../io.js'

export interface Place {
  api: ApiClient
  isPrivate: boolean
  /** What ran can be looked at later. */
  isKept: boolean
  /** Hears what steps print and when they are tried again, as it happens; only in a private instance. */
  onLook(listener: LookListener): void
  /** Ends a private instance; an instance that runs anyway goes on. */
  close(): Promise<void>
}

export type LookListener = (step: string, seen: Seen) => void

/** The running instance; undefined when a private one must be started. */
export async function runningPlace(context: CommandContext, isLocal: boolean): Promise<Place | undefined> {
  if (isLocal) return undefined
  if (context.config().config.remoteUrl === undefined && !isProduction(context.config())) {
    const running = await readRuntimeFile(context.dataDir())
    if (running === undefined || running.isPrivate === true) return undefined
  }
  const { httpUrl, token } = await context.instance()
  const api = createApiClient(httpUrl, token)
  try {
    await api.get('/health')
  } catch (error) {
    if (!isTransient(error)) throw error
    throw new CpError('unavailable', `${toCpError(error).message}\nStart one with "noetl-cp serve", or add --local.`, {
      cause: error,
    })
  }
  return { api, isPrivate: false, isKept: true, onLook: () => undefined, close: async () => undefined }
}

export async function privatePlace(context: CommandContext, allow: readonly string[]): Promise<Place> {
  try {
    return await startPrivate(context, allow, context.dataDir())
  } catch (error) {
    const isTaken = error instanceof CpError && error.code === 'refused' && error.details['folder'] !== undefined
    if (!isTaken) throw error
    const folder = await mkdtemp(join(tmpdir(), 'noetl-cp-run-'))
    const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
    return await startPrivate(context, allow, folder, remove).catch(async (failure: unknown) => {
      await remove()
      throw failure
    })
  }
}

async function startPrivate(
  context: CommandContext,
  allow: readonly string[],
  dataDir: string,
  /** Of a folder that is not kept. */
  remove?: () => Promise<void>,
): Promise<Place> {
  const { serve } = await import('../../daemon/serve.js')
  const loaded = context.config()
  const token = randomBytes(24).toString('hex')
  const stopping = new AbortController()
  let listener: LookListener | undefined
  let ready: (url: string) => void = () => undefined
  const url = new Promise<string>((resolve) => {
    ready = resolve
  })
  const ended = serve({
    loaded: {
      ...loaded,
      config: {
        ...loaded.config,
        httpHost: '127.0.0.1',
        httpPort: 0,
        tlsCert: undefined,
        tlsKey: undefined,
        tlsClientCa: undefined,
        apiToken: token,
        workerAllow: [...new Set([...loaded.config.workerAllow, ...allow])],
      },
    },
    dataDir,
    environment: context.env,
    commandLine: (command) => howToCall(context, command),
    log: createLog({
      level: loaded.origins.logLevel.source === 'default' ? 'error' : loaded.config.logLevel,
      format: loaded.config.logFormat,
      isTerminal: context.io.stderr.isTTY === true,
      color: wantsColor(context.io.stderr, context.env),
      stream: context.io.stderr,
    }),
    // Signals are for the run, which ends the instance when it has ended itself.
    shutdown: { signal: stopping.signal, forced: new Promise(() => undefined), dispose: () => undefined },
    announce: () => undefined,
    isPrivate: true,
    onLook: ({ step }, seen) => listener?.(step, seen),
    onReady: (httpUrl) => ready(httpUrl),
  })
  const early = ended.then((code) => {
    throw new CpError('unavailable', `the private instance ended with code ${code} before it was ready`)
  })
  early.catch(() => undefined)
  const httpUrl = await Promise.race([url, early])
  return {
    api: createApiClient(httpUrl, token),
    isPrivate: true,
    isKept: remove === undefined,
    onLook: (given) => {
      listener = given
    },
    close: async () => {
      stopping.abort()
      await ended
      await remove?.()
    },
  }
}
