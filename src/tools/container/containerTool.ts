// kind: container. Runs an image by the docker or podman that is on the PATH, waits for its end, and removes it whatever
// happens.
import { randomBytes } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { JsonObject, JsonValue } from '../../domain/json/value.js'
import { fieldOf, mapField, requiredText, scalarText, textField } from '../../domain/tool/configFields.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import { type ProgramEnd, runProgram } from '../process/processGroup.js'
import { type Environment, withOwn } from '../process/toolEnvironment.js'
import type { Tool, ToolRun } from '../tool.js'

export interface ContainerSettings {
  readonly environment: Environment
  /** Of this process: where docker and podman look for their server. */
  readonly ownEnvironment: Readonly<Record<string, string | undefined>>
  readonly workFolder: string
}

const TIMEOUT_SECONDS = 600
const REMOVE_MS = 30_000
const PROGRAMS = ['docker', 'podman'] as const
const SERVER_VARIABLES = ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CERT_PATH', 'DOCKER_TLS_VERIFY', 'CONTAINER_HOST']
/** Read by the program itself, by its shell or by the loader: as their environment they would change who runs and where. */
const NOT_FOR_THE_PROGRAM =
  /^(?:PATH|HOME|SHELL|IFS|ENV|BASH_.*|LD_.*|DOCKER_.*|CONTAINER.*|REGISTRY_.*|BUILDAH_.*|XDG_.*|TMPDIR|.*_PROXY|.*_proxy)$/
/** Exit codes of docker and podman themselves, before the program in the container has begun. */
const NOT_STARTED: ReadonlySet<number> = new Set([125, 126, 127])

export function createContainerTool(settings: ContainerSettings): Tool {
  const environment: Record<string, string> = { ...settings.environment }
  for (const name of [...SERVER_VARIABLES, 'XDG_RUNTIME_DIR']) {
    const value = settings.ownEnvironment[name]
    if (value !== undefined) environment[name] = value
  }

  return {
    timeoutSeconds: TIMEOUT_SECONDS,
    allowedAs: 'container',
    run: async (run) => {
      const program = findProgram(environment['PATH'] ?? '')
      const name = `noetl-${randomBytes(8).toString('hex')}`
      const own = withOwn({}, run.config['env'])
      const args = ['run', '--rm', '--name', name, ...limits(run.config), ...variables(own), ...commandLine(run.config)]
      const common = { program, cwd: settings.workFolder, onOutput: run.onOutput }
      let end: ProgramEnd
      try {
        // Values travel in the environment of the program, not on its command line, which everybody can see.
        const carried = Object.fromEntries(Object.entries(own).filter(([name]) => !NOT_FOR_THE_PROGRAM.test(name)))
        end = await runProgram({ ...common, args, environment: { ...environment, ...carried }, signal: run.signal })
      } finally {
        if (run.signal.aborted) await remove(program, name, environment, settings.workFolder)
      }
      return answerOf(end, run)
    },
  }
}

function findProgram(path: string): string {
  for (const program of PROGRAMS) {
    for (const folder of path.split(delimiter)) {
      try {
        accessSync(join(folder, program), constants.X_OK)
        return join(folder, program)
      } catch {
        // Not here.
      }
    }
  }
  throw new ToolFailure('unsupported', 'neither docker nor podman is on the PATH of this worker')
}

/** Signals reach the program that waits, and not always what it waits for. */
async function remove(program: string, name: string, environment: Environment, cwd: string): Promise<void> {
  const signal = AbortSignal.timeout(REMOVE_MS)
  await runProgram({ program, args: ['rm', '--force', name], cwd, environment, signal, onOutput: undefined })
}

/** As Kubernetes writes it: `500m` is half a processor, `512Mi` half a gigabyte. */
function limits(config: JsonObject): string[] {
  const wanted = mapField(mapField(config, 'resources') ?? {}, 'limits') ?? {}
  const cpu = textField(wanted, 'cpu')
  const memory = textField(wanted, 'memory')
  const processors = cpu?.endsWith('m') === true ? Number(cpu.slice(0, -1)) / 1000 : Number(cpu ?? 0)
  if (Number.isNaN(processors))
    throw new ToolFailure('config', `resources.limits.cpu ${cpu} is not a number of processors`)
  return [
    ...(processors > 0 ? ['--cpus', String(processors)] : []),
    ...(memory === undefined ? [] : ['--memory', memory.replace(/([KMG])i$/, '$1').toLowerCase()]),
  ]
}

function variables(own: Environment): string[] {
  return Object.entries(own).flatMap(([name, value]) => [
    '--env',
    NOT_FOR_THE_PROGRAM.test(name) ? `${name}=${value}` : name,
  ])
}

/** `command` replaces the entry point of the image, `args` its arguments. */
function commandLine(config: JsonObject): string[] {
  const image = requiredText(config, 'container', 'image')
  if (image.startsWith('-')) throw new ToolFailure('config', `image ${image} is not the name of an image`)
  const [entry, ...rest] = words(fieldOf(config, 'command'), 'command')
  const args = words(fieldOf(config, 'args'), 'args')
  return [...(entry === undefined ? [] : ['--entrypoint', entry]), image, ...rest, ...args]
}

function words(value: JsonValue | undefined, name: string): string[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value.map(scalarText)
  if (typeof value === 'string') return name === 'command' ? ['/bin/sh', '-c', value] : [value]
  // The step's own arguments stand under the same name; they are not for the command line.
  if (typeof value === 'object') return []
  throw new ToolFailure('config', `${name} must be a list of texts`)
}

function answerOf({ exitCode, stdout, stderr }: ProgramEnd, { signal }: ToolRun) {
  const data: JsonObject = { exit_code: exitCode, stdout, stderr }
  const facts = { exitCode, stdout, stderr, data }
  if (signal.aborted) throw (signal.reason as ToolFailure).with(facts)
  if (exitCode === 0) return { data, stdout, stderr, exitCode }
  const reason = stderr.trimEnd().split('\n').at(-1) ?? ''
  const how = NOT_STARTED.has(exitCode)
    ? 'the container did not start'
    : `the container left with exit code ${exitCode}`
  throw new ToolFailure('exception', `${how}${reason === '' ? '' : `: ${reason.slice(0, 300)}`}`, {
    ...facts,
    code: `EXIT_${exitCode}`,
  })
}
