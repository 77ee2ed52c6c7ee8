// kind: python. The code runs in a fork of a warm interpreter; see python/fork_server.py.
import { parseJson } from '../../domain/json/parse.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import { writeJson } from '../../domain/json/write.js'
import { fieldOf, textField } from '../../domain/tool/configFields.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import { type Environment, withOwn } from '../process/toolEnvironment.js'
import type { ScriptSource } from '../script/scriptSource.js'
import type { Tool, ToolAnswer, ToolRun } from '../tool.js'
import { createForkServer, type ForkServer } from './forkServer.js'
import type { PythonAnswer } from './pythonCall.js'

export interface PythonSettings {
  /** Used when a step names none. */
  readonly program: string
  readonly environment: Environment
  /** Where code runs when a step does not say. */
  readonly workFolder: string
  /** What code sees as `server_url`. */
  readonly serverUrl: () => string | undefined
}

const TIMEOUT_SECONDS = 300
const INTERPRETERS_MAX = 4

export function createPythonTool(settings: PythonSettings, scripts: ScriptSource): Tool {
  /** By interpreter, the longest unused first. */
  const servers = new Map<string, ForkServer>()

  function serverOf(program: string): ForkServer {
    const known = servers.get(program)
    const server = known ?? createForkServer({ program, environment: settings.environment })
    servers.delete(program)
    servers.set(program, server)
    const [oldest] = servers.keys()
    if (servers.size > INTERPRETERS_MAX && oldest !== undefined) {
      void servers.get(oldest)?.close()
      servers.delete(oldest)
    }
    return server
  }

  return {
    timeoutSeconds: TIMEOUT_SECONDS,
    allowedAs: 'python',
    run: async (run) => {
      const code = textField(run.config, 'code') ?? (await scripts.read(run))
      if (code === undefined) throw new ToolFailure('config', 'python needs code or script')
      const server = serverOf(textField(run.config, 'python') ?? settings.program)
      const { signal, onOutput } = run
      const answer = await server.call(writeJson(requestOf(run, code, settings)), { signal, onOutput })
      return readAnswer(answer, run)
    },
    warm: () => serverOf(settings.program).warm(),
    close: async () => {
      await Promise.all([...servers.values()].map((server) => server.close()))
      servers.clear()
    },
  }
}

function requestOf(run: ToolRun, code: string, settings: PythonSettings): JsonObject {
  const { config, command } = run
  return {
    code,
    name: run.label === undefined ? `step ${command.step}` : `task ${run.label}`,
    args: run.args,
    variables: run.variables,
    execution_id: command.executionId,
    step: command.step,
    server_url: settings.serverUrl() ?? null,
    libs: fieldOf(config, 'libs', 'deps') ?? null,
    env: { ...withOwn(settings.environment, config['env']) },
    cwd: textField(config, 'cwd') ?? settings.workFolder,
  }
}

function readAnswer(result: PythonAnswer, { signal }: ToolRun): ToolAnswer {
  const { stdout, stderr, exitCode } = result
  const outputs = { stdout, stderr, exitCode }
  if (signal.aborted) throw (signal.reason as ToolFailure).with(outputs)
  if (result.answer === undefined) throw withoutAnswer(result)
  const answer = parsed(result.answer, outputs)
  const error = answer['error']
  if (isJsonObject(error)) throw failureOf(error, outputs)
  const data: JsonValue = answer['printed'] === true ? { stdout, stderr } : (answer['data'] ?? null)
  return { data, ...outputs }
}

interface Outputs {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

function parsed(text: string, outputs: Outputs): JsonObject {
  try {
    return parseJson(text) as JsonObject
  } catch (error) {
    throw new ToolFailure('transform', `the result cannot be read: ${(error as Error).message}`, outputs)
  }
}

function failureOf(error: JsonObject, outputs: Outputs): ToolFailure {
  const type = String(error['type'])
  const message = String(error['message'])
  if (error['unusable'] === true) return new ToolFailure('transform', `the result is not JSON: ${message}`, outputs)
  return new ToolFailure('exception', message === '' ? type : `${type}: ${message}`, {
    ...outputs,
    code: `PY_${type}`,
    exceptionType: type,
  })
}

function withoutAnswer({ signalNumber, exitCode, stdout, stderr }: PythonAnswer): ToolFailure {
  const how = signalNumber > 0 ? `was ended by signal ${signalNumber}` : `left with exit code ${exitCode}`
  const why = signalNumber === 9 ? ' (out of memory?)' : ''
  return new ToolFailure('exception', `the code ${how} before it had a result${why}`, {
    code: signalNumber > 0 ? `SIGNAL_${signalNumber}` : `EXIT_${exitCode}`,
    exitCode: signalNumber > 0 ? 128 + signalNumber : exitCode,
    stdout,
    stderr,
  })
}
