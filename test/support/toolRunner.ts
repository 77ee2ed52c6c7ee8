// A worker's tools with nothing of a daemon around them, and commands as the engine would hand them over.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/domain/json/value.js'
import { ToolFailure } from '../../src/domain/tool/toolFailure.js'
import { systemClock } from '../../src/runtime/clock.js'
import type { Credentials } from '../../src/tools/credentials/credentials.js'
import type { Children } from '../../src/tools/run/children.js'
import type { RunOptions } from '../../src/tools/run/commandRunner.js'
import type { ResultStore } from '../../src/tools/run/resultStore.js'
import {
  createWorkerTools,
  type WorkerTools,
  type WorkerToolsDeps,
  type WorkerToolsSettings,
} from '../../src/tools/workerTools.js'

export interface Report {
  status: 'success' | 'error' | 'timeout'
  data?: JsonValue
  error?: JsonObject
  stdout?: string
  stderr?: string
  exit_code?: number
  duration_ms: number
  meta?: { tasks: { name: string; runs: number }[] }
}

export interface ToolRunner extends WorkerTools {
  readonly folder: string
  /** The tool alone, with finished values. */
  tool(config: JsonObject, parts?: CommandParts): Promise<Report>
}

export interface CommandParts {
  readonly args?: JsonObject
  readonly context?: JsonObject
  readonly keychain?: JsonValue[]
  readonly meta?: JsonObject
  readonly options?: Partial<RunOptions>
}

const META = {
  execution_id: '380600494935949312',
  command_id: '380600494935949312:fetch:1',
  catalog_id: '7',
  step: 'fetch',
}

/** `byName`: fields of each credential, `type` among them. */
export function credentialsOf(byName: Record<string, JsonObject>): Credentials {
  return {
    find: async (name) => {
      const found = byName[name]
      if (found === undefined) return undefined
      const { type = '', ...data } = found
      return { name, type: String(type), data }
    },
  }
}

const noResultStore: ResultStore = {
  get: () => Promise.reject(new ToolFailure('storage', 'this test has no result store')),
  put: () => Promise.reject(new ToolFailure('storage', 'this test has no result store')),
}

const noChildren: Children = {
  start: () => Promise.reject(new ToolFailure('config', 'this test has no playbooks')),
  ended: () => Promise.reject(new ToolFailure('config', 'this test has no playbooks')),
  resultOf: () => Promise.reject(new ToolFailure('config', 'this test has no playbooks')),
}

/** At the top of a test file or a group: closed at its end. */
export function useTools(settings: Partial<WorkerToolsSettings> = {}, deps: Partial<WorkerToolsDeps> = {}): ToolRunner {
  const folder = mkdtempSync(join(tmpdir(), 'noetl-tools-'))
  const tools = createWorkerTools(
    {
      environment: process.env,
      allowed: ['python', 'shell', 'container'],
      pythonProgram: 'python3',
      processesMax: 16,
      workFolder: folder,
      dataFolder: folder,
      http: { forbidden: () => [], allowed: [], denyPrivate: false },
      serverUrl: () => 'http://127.0.0.1:8082',
      version: 'test',
      ...settings,
    },
    {
      clock: systemClock,
      random: () => 0.5,
      credentials: credentialsOf({}),
      results: noResultStore,
      children: noChildren,
      ...deps,
    },
  )
  afterAll(async () => {
    await tools.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    ...tools,
    folder,
    tool: async (config, { args = {}, context = {}, keychain = [], meta = {}, options = {} } = {}) => {
      const command = { tool_config: config, args, render_context: context, keychain }
      const signal = new AbortController().signal
      return (await tools.run(command, { ...META, ...meta }, { signal, ...options })) as unknown as Report
    },
  }
}
