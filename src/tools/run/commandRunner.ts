// Runs commands: one at a time per call, as many side by side as are asked for. Everything a command reports goes through
// the mask of the secrets it used, and through the bounds of an event.

import { storableText } from '../../domain/events/storableText.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import type { Envelope } from '../../domain/tool/envelope.js'
import { cutText } from '../../domain/tool/outputCut.js'
import { SecretMask } from '../../domain/tool/secretMask.js'
import { readCommand, type ToolCommand } from '../../domain/tool/toolCommand.js'
import { failureJson, ToolFailure, toToolFailure } from '../../domain/tool/toolFailure.js'
import type { Clock } from '../../runtime/clock.js'
import { createAuth } from '../credentials/auth.js'
import type { Credentials } from '../credentials/credentials.js'
import { Keychain, TokenCache, type TokenRequest } from '../credentials/keychain.js'
import { withinTime } from '../timeLimit.js'
import type { OutputStream, Tool } from '../tool.js'
import { OutputLines } from './outputLines.js'
import { Pipeline, type RetryNotice } from './pipeline.js'
import { renderEntry } from './renderTask.js'
import type { ResultStore } from './resultStore.js'
import type { TaskSurroundings } from './taskRunner.js'
import { tasksOf } from './tasks.js'

export interface CommandRunnerDeps {
  readonly clock: Clock
  readonly random: () => number
  /** By kind. */
  readonly tools: ReadonlyMap<string, Tool>
  /** Kinds that need to be allowed, and are. */
  readonly allowed: ReadonlySet<string>
  readonly credentials: Credentials
  readonly results: ResultStore
  readonly requestToken: TokenRequest
}

export interface RunOptions {
  /** Aborted when the command is cancelled, or given to another worker. */
  readonly signal: AbortSignal
  /** Whole lines, without secrets, as they are printed. */
  readonly onLine?: (stream: OutputStream, line: string) => void
  readonly onRetry?: (notice: RetryNotice) => void
  /** Lends the slot to others while the command only waits; by default it is kept. */
  readonly whileWaiting?: <T>(work: () => Promise<T>) => Promise<T>
}

export interface CommandRunner {
  /** Never rejects. */
  run(context: JsonValue, meta: JsonValue, options: RunOptions): Promise<Envelope>
  /** Kinds that can be run here: for the announcement of the worker. */
  kinds(): string[]
  warm(): Promise<void>
  close(): Promise<void>
}

export function createCommandRunner(deps: CommandRunnerDeps): CommandRunner {
  const { clock, tools, allowed } = deps
  const cache = new TokenCache(clock)

  function toolOf(kind: string): Tool {
    const tool = tools.get(kind)
    if (tool === undefined) throw new ToolFailure('unsupported', `kind ${kind} is not run by this worker`)
    if (isRefused(tool)) {
      throw new ToolFailure('config', `${kind} is not allowed here: add ${tool.allowedAs} to NOETL_CP_WORKER_ALLOW`)
    }
    return tool
  }

  function isRefused({ allowedAs }: Tool): boolean {
    return allowedAs !== undefined && !allowed.has(allowedAs)
  }

  function pipelineOf(
    command: ToolCommand,
    options: RunOptions,
    mask: SecretMask,
    lines: OutputLines | undefined,
    signal: AbortSignal,
  ): Pipeline {
    const auth = createAuth(deps.credentials, mask, command.executionId)
    let pipeline: Pipeline | undefined
    const keychain = new Keychain(
      command,
      auth,
      { credentials: deps.credentials, cache, requestToken: deps.requestToken },
      (entry, depth) => renderEntry(entry, (pipeline as Pipeline).context, keychain, depth),
      signal,
    )
    const around: TaskSurroundings = {
      command,
      auth,
      keychain,
      results: deps.results,
      clock,
      signal,
      toolOf,
      onOutput: lines === undefined ? undefined : (stream, chunk) => lines.add(stream, chunk),
      whileWaiting: options.whileWaiting ?? ((work) => work()),
    }
    pipeline = new Pipeline(tasksOf(command), around, { random: deps.random, onRetry: options.onRetry })
    return pipeline
  }

  return {
    run: async (context, meta, options) => {
      const mask = new SecretMask()
      const lines = options.onLine === undefined ? undefined : new OutputLines(options.onLine, mask)
      const began = clock.monotonic()
      let pipeline: Pipeline | undefined
      let failure: ToolFailure | undefined
      let kind = ''
      try {
        const command = readCommand(context, meta)
        kind = String(command.toolConfig['kind'])
        const ms = (command.timeoutSeconds ?? NO_LIMIT_SECONDS) * 1000
        await withinTime({ parent: options.signal, ms, what: 'the step' }, async (signal) => {
          pipeline = pipelineOf(command, options, mask, lines, signal)
          await pipeline.perform()
        })
      } catch (error) {
        failure = toToolFailure(error)
      }
      lines?.end()
      return report(pipeline, failure, mask, Math.round(clock.monotonic() - began), kind)
    },
    kinds: () => [...tools].filter(([, tool]) => !isRefused(tool)).map(([kind]) => kind),
    warm: async () => {
      await Promise.all([...tools.values()].filter((tool) => !isRefused(tool)).map((tool) => tool.warm?.()))
    },
    close: async () => {
      await Promise.all([...new Set(tools.values())].map((tool) => tool.close?.()))
    },
  }
}

const NO_LIMIT_SECONDS = 7 * 86_400

function report(
  pipeline: Pipeline | undefined,
  failure: ToolFailure | undefined,
  mask: SecretMask,
  durationMs: number,
  kind: string,
): Envelope {
  const output = (parts: readonly string[]): string => cutText(mask.text(storableText(parts.join('\n'))))
  const stdout = output(pipeline?.stdout ?? [])
  const stderr = output(pipeline?.stderr ?? [])
  const reports = pipeline?.reports ?? []
  const error: JsonObject | undefined =
    failure === undefined ? undefined : mask.json(failureJson(failure, pipeline?.failedKind || kind))
  // Of a success it would say that the command failed: what a policy has handled is told by the data.
  const exitCode = failure === undefined && pipeline?.exitCode !== 0 ? undefined : pipeline?.exitCode
  const data = pipeline !== undefined && reports.length > 0 ? mask.json(pipeline.wholeData()) : undefined
  const updates = data === undefined || isJsonObject(data) ? undefined : pipeline?.updates()
  return {
    status: failure === undefined ? 'success' : failure.kind === 'timeout' ? 'timeout' : 'error',
    ...(data === undefined ? {} : { data }),
    ...(updates === undefined ? {} : { updates: mask.json(updates) }),
    ...(error === undefined ? {} : { error }),
    ...(stdout === '' ? {} : { stdout }),
    ...(stderr === '' ? {} : { stderr }),
    ...(exitCode === undefined ? {} : { exitCode }),
    durationMs,
    ...(reports.length > 1 || reports.some(({ runs }) => runs > 1) ? { tasks: reports } : {}),
  }
}
