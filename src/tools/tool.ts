// What a kind of tool is: finished configuration in, data out. A tool throws a ToolFailure when it fails, ends soon after
// its signal aborts, and leaves nothing running.
import type { JsonObject, JsonValue } from '../domain/json/value.js'
import type { ToolCommand } from '../domain/tool/toolCommand.js'
import type { Auth } from './credentials/auth.js'
import type { Places } from './places.js'

export type OutputStream = 'stdout' | 'stderr'

export interface ToolRun {
  readonly config: JsonObject
  /** Arguments of the step and the task, the latter stronger. */
  readonly args: JsonObject
  /** What code sees as `context`. */
  readonly variables: JsonObject
  readonly command: ToolCommand
  /** The task's label in a pipeline; undefined when the tool is the step. */
  readonly label: string | undefined
  /** Counts the runs of the task in this command, jumps back to it included. */
  readonly startNumber: number
  /** Aborts with a ToolFailure as its reason: out of time, or cancelled. */
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly auth: Auth
  /** Hears output as it comes. */
  readonly onOutput: ((stream: OutputStream, chunk: Buffer) => void) | undefined
  /** Gives the worker's slot back while something else is waited for. */
  whileWaiting<T>(work: () => Promise<T>): Promise<T>
}

export interface ToolAnswer {
  readonly data: JsonValue
  readonly stdout?: string
  readonly stderr?: string
  readonly exitCode?: number
  /** `{status, headers}` of an HTTP answer. */
  readonly http?: JsonObject
}

export interface Tool {
  /** Seconds that a run may take when its author says nothing. */
  readonly timeoutSeconds: number
  /** The kind that must be allowed before it runs, where that is needed. */
  readonly allowedAs?: string
  /** How many of them run at a time; waiting for a turn is no part of the time that a run may take. */
  readonly places?: Places
  run(run: ToolRun): Promise<ToolAnswer>
  /** Starts ahead of the first run what takes long to start. */
  warm?(): Promise<void>
  close?(): Promise<void>
}
