// Everything a worker runs commands with, put together: the one door for those who have commands to run.
import type { JsonObject, JsonValue } from '../domain/json/value.js'
import { envelopeJson } from '../domain/tool/envelope.js'
import type { Clock } from '../runtime/clock.js'
import { createArtifactTool } from './artifactTool.js'
import { createContainerTool } from './container/containerTool.js'
import type { Credentials } from './credentials/credentials.js'
import { createDuckdbTool } from './duckdb/duckdbTool.js'
import { AddressGuard, type AddressGuardSettings } from './http/addressGuard.js'
import { createHttpClient } from './http/httpClient.js'
import { createFetchText, createHttpTool, createTokenRequest } from './http/httpTool.js'
import { natsTool } from './nats/natsTool.js'
import { noopTool } from './noopTool.js'
import { Places } from './places.js'
import { createPlaybookTool } from './playbookTool.js'
import { createPgPools } from './postgres/pgPools.js'
import { createPostgresTool } from './postgres/postgresTool.js'
import { shortEnvironment } from './process/toolEnvironment.js'
import { createPythonTool } from './python/pythonTool.js'
import { createResultFetchTool } from './resultFetchTool.js'
import type { Children } from './run/children.js'
import { createCommandRunner, type RunOptions } from './run/commandRunner.js'
import type { ResultStore } from './run/resultStore.js'
import { createDataFolder } from './script/dataFolder.js'
import { createScriptSource } from './script/scriptSource.js'
import { createScriptTool } from './script/scriptTool.js'
import { secretsTool } from './secretsTool.js'
import { createShellTool } from './shell/shellTool.js'
import type { Tool } from './tool.js'
import { createTransferTool } from './transfer/transferTool.js'

export interface WorkerToolsSettings {
  /** Of this process; steps see a small part of it. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Of `python`, `shell` and `container`, those that may run. */
  readonly allowed: readonly string[]
  readonly pythonProgram: string
  /** Where python and shell run when a step does not say. */
  readonly workFolder: string
  /** The one folder whose files steps may name. */
  readonly dataFolder: string
  /** How many of python, shell, script and container run at a time, of each. */
  readonly processesMax: number
  readonly http: AddressGuardSettings
  /** Our own address, as code sees it. */
  readonly serverUrl: () => string | undefined
  readonly version: string
}

/** Runs commands as they stand in the log, and reports as it goes into the log. */
export interface WorkerTools {
  /** Context and meta of a command.issued event in, the envelope out. Never rejects. */
  run(context: JsonValue, meta: JsonValue, options: RunOptions): Promise<JsonObject>
  /** Kinds that can be run here: for the announcement of the worker. */
  kinds(): string[]
  /** Starts ahead of the first command what takes long to start. */
  warm(): Promise<void>
  close(): Promise<void>
}

export interface WorkerToolsDeps {
  readonly clock: Clock
  readonly random: () => number
  readonly credentials: Credentials
  readonly results: ResultStore
  readonly children: Children
}

export function createWorkerTools(settings: WorkerToolsSettings, deps: WorkerToolsDeps): WorkerTools {
  const { clock } = deps
  const environment = shortEnvironment(settings.environment)
  const allowed = new Set(settings.allowed)
  const client = createHttpClient(new AddressGuard(settings.http), `noetl-cp/${settings.version}`)
  const folder = createDataFolder(settings.dataFolder)
  const scripts = createScriptSource(folder, createFetchText(client, clock))
  const processes = { environment, workFolder: settings.workFolder }
  const python = createPythonTool(
    { ...processes, program: settings.pythonProgram, serverUrl: settings.serverUrl },
    scripts,
  )
  const shell = createShellTool(processes, scripts)
  const pools = createPgPools('noetl-cp step')
  const atOnce = (tool: Tool): Tool => ({ ...tool, places: new Places(settings.processesMax) })
  const tools = new Map<string, Tool>([
    ['noop', noopTool],
    ['http', createHttpTool(client, clock)],
    ['postgres', createPostgresTool(pools, scripts)],
    ['python', atOnce(python)],
    ['shell', atOnce(shell)],
    ['script', atOnce(createScriptTool(python, shell, (kind) => allowed.has(kind)))],
    ['nats', natsTool],
    ['transfer', createTransferTool({ pools, client, clock })],
    ['artifact', createArtifactTool(folder, deps.results)],
    ['result_fetch', createResultFetchTool(deps.results)],
    ['secrets', secretsTool],
    ['duckdb', createDuckdbTool(folder)],
    ['playbook', createPlaybookTool(deps.children)],
    ['container', atOnce(createContainerTool({ ...processes, ownEnvironment: settings.environment }))],
  ])
  const runner = createCommandRunner({ ...deps, tools, allowed, requestToken: createTokenRequest(client, clock) })
  return { ...runner, run: async (context, meta, options) => envelopeJson(await runner.run(context, meta, options)) }
}
