// kind: shell
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { JsonObject } from '../../domain/json/value.js'
import { fieldOf, textField } from '../../domain/tool/configFields.js'
import { cutText, OUTPUT_BYTES_MAX } from '../../domain/tool/outputCut.js'
import { shellExports } from '../../domain/tool/shellExports.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import { type ProgramEnd, runProgram } from '../process/processGroup.js'
import { type Environment, withOwn } from '../process/toolEnvironment.js'
import type { ScriptSource } from '../script/scriptSource.js'
import type { Tool, ToolAnswer, ToolRun } from '../tool.js'

export interface ShellSettings {
  readonly environment: Environment
  /** Where commands run when a step does not say. */
  readonly workFolder: string
}

const TIMEOUT_SECONDS = 300
const SHELLS = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'] as const

export function createShellTool(settings: ShellSettings, scripts: ScriptSource): Tool {
  const fallback = SHELLS.find((path) => existsSync(path)) ?? '/bin/sh'
  return {
    timeoutSeconds: TIMEOUT_SECONDS,
    allowedAs: 'shell',
    run: async (run) => {
      const commands = await readCommands(run, scripts)
      const shell = textField(run.config, 'shell') ?? fallback
      const surroundings = {
        program: shell,
        cwd: resolve(settings.workFolder, textField(run.config, 'cwd') ?? '.'),
        environment: withOwn(settings.environment, run.config['env']),
        signal: run.signal,
        onOutput: run.onOutput,
      }
      const ends: { command: string; end: ProgramEnd }[] = []
      for (const { text, flags } of commands) {
        const end = await runProgram({ ...surroundings, args: [...flags, '-c', text] })
        ends.push({ command: text, end })
        if (end.exitCode !== 0 || run.signal.aborted) break
      }
      return answerOf(ends, run)
    },
  }
}

interface Command {
  readonly text: string
  readonly flags: readonly string[]
}

/** A list runs item by item; a text as one script that stops at the first command that fails. */
async function readCommands({ config, ...run }: ToolRun, scripts: ScriptSource): Promise<Command[]> {
  const source =
    fieldOf(config, 'command', 'cmd', 'cmds', 'commands', 'code') ?? (await scripts.read({ config, ...run }))
  const texts = Array.isArray(source) ? source : source === undefined ? [] : [source]
  const isScript = !Array.isArray(source) && fieldOf(config, 'command', 'cmd') === undefined
  const commands = texts.map((text) => {
    if (typeof text !== 'string') throw new ToolFailure('config', 'shell needs its commands as texts')
    if (text.includes('\0')) throw new ToolFailure('config', 'a command holds a zero character')
    return { text, flags: isScript ? ['-e'] : [] }
  })
  if (commands.length === 0) throw new ToolFailure('config', 'shell needs command or cmds')
  return commands
}

function answerOf(ends: readonly { command: string; end: ProgramEnd }[], run: ToolRun): ToolAnswer {
  const stdout = cutText(ends.map(({ end }) => end.stdout).join(''))
  const stderr = cutText(ends.map(({ end }) => end.stderr).join(''))
  const exitCode = ends.at(-1)?.end.exitCode ?? 0
  const share = Math.floor(OUTPUT_BYTES_MAX / ends.length)
  const data: JsonObject = {
    exit_code: exitCode,
    returncode: exitCode,
    stdout,
    stderr,
    commands: ends.map(({ command, end }) => ({
      command: cutText(command, share),
      exit_code: end.exitCode,
      stdout: cutText(end.stdout, share),
      stderr: cutText(end.stderr, share),
    })),
  }
  const exported = shellExports(ends.map(({ end }) => end.stdout).join('\n'), run.config['exports'])
  if (exported !== undefined) data['exports'] = exported
  const facts = { stdout, stderr, exitCode, data }
  if (run.signal.aborted) throw (run.signal.reason as ToolFailure).with(facts)
  if (exitCode === 0) return { data, stdout, stderr, exitCode }
  throw new ToolFailure('exception', failureText(exitCode, stderr), { ...facts, code: `EXIT_${exitCode}` })
}

const REASON_CHARACTERS_MAX = 300

/** With the last line that the command said about it. */
function failureText(exitCode: number, stderr: string): string {
  const reason = stderr.trimEnd().split('\n').at(-1)?.trim() ?? ''
  const how =
    exitCode > 128 && exitCode < 193 ? `was ended by signal ${exitCode - 128}` : `left with exit code ${exitCode}`
  return `the command ${how}${reason === '' ? '' : `: ${reason.slice(0, REASON_CHARACTERS_MAX)}`}`
}
