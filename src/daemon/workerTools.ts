// Settings → the tools of the built-in worker.
import { join } from 'node:path'
import type { Config } from '../config/keys.js'
import { CpError } from '../errors.js'
import { type CredentialsDeps, openCredential } from '../services/credentials/credentials.js'
import {
  type Credentials,
  credentialsOfEnvironment,
  credentialsOfFile,
  firstOf,
} from '../tools/credentials/credentials.js'
import type { Endpoint } from '../tools/http/addressGuard.js'
import type { Children } from '../tools/run/children.js'
import type { ResultStore } from '../tools/run/resultStore.js'
import { createWorkerTools, type WorkerTools } from '../tools/workerTools.js'
import { VERSION } from '../version.js'
import { stepProcessCount } from '../workers/threadCounts.js'
import type { Deps } from './deps.js'

export interface WorkerSurroundings {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The data folder of the instance. */
  readonly dataDir: string
  /** Where python and shell run when a step does not say. */
  readonly workFolder: string
  /** Where the API listens; undefined before it does. */
  readonly listening: () => { host: string; port: number } | undefined
  readonly credentials: Pick<CredentialsDeps, 'databases' | 'keyring' | 'onRead'>
  readonly results: ResultStore
  readonly children: Children
}

export function buildWorkerTools(deps: Deps, around: WorkerSurroundings): WorkerTools {
  const { config, clock, random } = deps
  const { environment, listening } = around
  return createWorkerTools(
    {
      environment,
      allowed: config.workerAllow,
      pythonProgram: config.workerPython,
      processesMax: stepProcessCount(config.workerProcesses),
      workFolder: around.workFolder,
      dataFolder: config.workerDataDir ?? join(around.dataDir, 'worker'),
      http: {
        forbidden: () => ownEndpoints(deps, listening()),
        allowed: config.workerHttpAllow,
        denyPrivate: config.workerHttpDenyPrivate,
      },
      serverUrl: () => config.publicUrl ?? addressOf(listening()),
      version: VERSION,
    },
    { clock, random, credentials: credentials(config, around), results: around.results, children: around.children },
  )
}

/** The stored ones first, then the file, then the environment. */
function credentials(config: Config, around: WorkerSurroundings): Credentials {
  const file = config.credentialsFile === undefined ? [] : [credentialsOfFile(config.credentialsFile)]
  return firstOf(storedCredentials(around.credentials), ...file, credentialsOfEnvironment(around.environment))
}

function storedCredentials(deps: WorkerSurroundings['credentials']): Credentials {
  return {
    find: async (name, executionId) => {
      try {
        const { credential, data } = await openCredential(deps, name, executionId)
        return { name, type: credential.type, data }
      } catch (error) {
        if (error instanceof CpError && error.code === 'not_found') return undefined
        throw error
      }
    },
  }
}

/** What a step must not talk to over HTTP: with it, it could do anything in our name. */
export function ownEndpoints(deps: Deps, listening: { host: string; port: number } | undefined): Endpoint[] {
  const { topology } = deps.databases
  const databases = [...topology.databases, topology.cluster].map(({ host, port }) => ({
    host,
    port,
    what: 'the database of this installation',
  }))
  const nats = (deps.endpoints.nats?.url.split(',') ?? []).map((address) => {
    const url = new URL(address.includes('://') ? address.trim() : `nats://${address.trim()}`)
    return { host: url.hostname, port: Number(url.port || NATS_PORT), what: 'the NATS server of this installation' }
  })
  const monitor = deps.endpoints.natsMonitorUrl === undefined ? [] : [new URL(deps.endpoints.natsMonitorUrl)]
  return [
    ...databases.filter(({ host }) => !host.startsWith('/')),
    ...nats,
    ...monitor.map((url) => ({ host: url.hostname, port: Number(url.port || 80), what: 'the monitor of NATS' })),
    ...(listening === undefined ? [] : [{ ...listening, what: 'the API of this installation' }]),
  ]
}

const NATS_PORT = 4222

function addressOf(listening: { host: string; port: number } | undefined): string | undefined {
  return listening === undefined ? undefined : `http://${listening.host}:${listening.port}`
}
