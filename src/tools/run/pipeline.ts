// Runs the tasks of a command in order, under their policies, and puts their data together.
//
//   task ──run──▶ outcome ──rule──▶ continue: next task        break: end, all is well
//                    ▲                 jump: another task         fail: end, the command failed
//                    └────wait────── retry
//
// `set` of the rule is applied before the action, `set` of the task after a continue, break or jump.
import { Float, type JsonObject, type JsonValue } from '../../domain/json/value.js'
import type { Assignment } from '../../domain/playbook/plan.js'
import type { PolicyAction, PolicyRule } from '../../domain/playbook/policy.js'
import type { Template } from '../../domain/template/template.js'
import { templateFailure } from '../../domain/tool/deferredTemplates.js'
import type { TaskReport } from '../../domain/tool/envelope.js'
import { PipelineContext, scopeBase } from '../../domain/tool/pipelineContext.js'
import { PipelineData } from '../../domain/tool/pipelineData.js'
import { retryDelayMs } from '../../domain/tool/retryDelay.js'
import { ScopedValues, type WorkerScope } from '../../domain/tool/scopedValues.js'
import { policyOutput, setOutput } from '../../domain/tool/taskOutcome.js'
import { ToolFailure } from '../../domain/tool/toolFailure.js'
import { pause } from '../timeLimit.js'
import { runTask, type TaskRun, type TaskSurroundings } from './taskRunner.js'
import type { Task, TaskList } from './tasks.js'

const JUMPS_MAX = 10_000

export interface RetryNotice {
  readonly task: string
  /** Runs made so far, and those allowed. */
  readonly runs: number
  readonly attempts: number
  readonly delayMs: number
  readonly message: string
}

export interface PipelineOptions {
  readonly random: () => number
  readonly onRetry: ((notice: RetryNotice) => void) | undefined
}

interface Decision {
  readonly action: Exclude<PolicyAction, 'retry'>
  readonly to?: string | undefined
  readonly failure?: ToolFailure
}

export class Pipeline {
  readonly data = new PipelineData()
  readonly reports: TaskReport[] = []
  readonly stdout: string[] = []
  readonly stderr: string[] = []
  exitCode: number | undefined
  /** The kind of the task that failed. */
  failedKind = ''
  private readonly tasks: readonly Task[]
  private readonly starts = new Map<Task, number>()
  private readonly values: ScopedValues
  /** Also for those who render beside it: entries of the keychain. */
  readonly context: PipelineContext

  constructor(
    private readonly list: TaskList,
    private readonly around: TaskSurroundings,
    private readonly options: PipelineOptions,
  ) {
    this.tasks = list.tasks
    this.values = new ScopedValues(scopeBase(around.command))
    this.context = new PipelineContext(around.command, this.data, this.values, around.clock.now())
  }

  /** Throws the failure of the command; what was done until then is in the fields. */
  async perform(): Promise<void> {
    let jumps = 0
    for (let index = 0; index < this.tasks.length; index++) {
      const task = this.tasks[index] as Task
      const { action, to, failure } = await this.runUnderPolicy(task)
      if (action === 'fail') {
        this.failedKind = task.kind
        throw failure ?? new ToolFailure('unknown', `policy failed ${task.name}`, { code: 'POLICY_FAILED' })
      }
      if (action === 'break') return
      if (action !== 'jump') continue
      if (++jumps > JUMPS_MAX) throw new ToolFailure('unknown', `more than ${JUMPS_MAX} jumps in one command`)
      index = this.tasks.findIndex(({ name }) => name === to) - 1
    }
  }

  wholeData(): JsonValue {
    return this.data.whole(this.list.isLabelled, this.values.writes('step'), this.values.updates())
  }

  updates(): JsonObject | undefined {
    return this.values.updates()
  }

  private async runUnderPolicy(task: Task): Promise<Decision> {
    const retries = new Map<PolicyRule, number>()
    const began = this.around.clock.monotonic()
    for (let run = 1; ; run++) {
      const label = this.list.isLabelled ? task.name : undefined
      const startNumber = (this.starts.get(task) ?? 0) + 1
      this.starts.set(task, startNumber)
      const place = { label, runNumber: run, startNumber }
      const result = await runTask(task, place, this.context, this.around)
      this.keepOutput(task, result)
      if (this.around.signal.aborted) throw result.failure ?? this.around.signal.reason
      const decision = await this.decide(task, result, retries)
      if (decision === 'again') continue
      this.data.add(label, result.outcome)
      if (decision.action !== 'fail') this.apply(task.assignments, { output: setOutput(result.outcome) }, task.name)
      this.reports.push({
        name: task.name,
        kind: task.kind,
        status: result.failure === undefined ? 'ok' : 'error',
        runs: run,
        durationMs: Math.round(this.around.clock.monotonic() - began),
      })
      return decision
    }
  }

  private async decide(task: Task, result: TaskRun, retries: Map<PolicyRule, number>): Promise<Decision | 'again'> {
    const { outcome, failure } = result
    const extra: JsonObject = {
      output: policyOutput(outcome),
      error: outcome.error,
      result: outcome.data,
      _task: task.name,
      _attempt: outcome.attempt,
    }
    const context = this.context.with(extra)
    const rule = firstMet(task, context)
    if (rule === undefined) {
      if (failure !== undefined) return { action: 'fail', failure }
      return { action: task.policy?.onUnmatched ?? 'continue' }
    }
    this.apply(rule.assignments, extra, task.name)
    if (rule.action === 'fail') return failure === undefined ? { action: 'fail' } : { action: 'fail', failure }
    if (rule.action !== 'retry') return { action: rule.action, to: rule.to }
    const runs = (retries.get(rule) ?? 0) + 1
    retries.set(rule, runs)
    const attempts = numberOf(rule.attempts, context, task.name)
    if (runs >= attempts) return { action: 'fail', failure: failure ?? stillWanting(task, attempts) }
    const delayMs = retryDelayMs(rule, {
      delaySeconds: numberOf(rule.delaySeconds, context, task.name),
      runs,
      retryAfterSeconds: failure?.facts.retryAfterSeconds,
      random: this.options.random(),
    })
    const message = failure?.message ?? 'the policy asks for it'
    this.options.onRetry?.({ task: task.name, runs, attempts, delayMs, message })
    await pause(delayMs, this.around.signal)
    return 'again'
  }

  /** All at once: every value is rendered before the first is written. */
  private apply(assignments: readonly Assignment<WorkerScope>[], extra: JsonObject, name: string): void {
    const context = this.context.with(extra)
    const values = assignments.map(({ value, pointer }) => {
      try {
        return value.value(context) ?? null
      } catch (error) {
        throw templateFailure(error, `task "${name}", ${pointer}`)
      }
    })
    for (const [index, assignment] of assignments.entries()) this.values.write(assignment, values[index] as JsonValue)
  }

  private keepOutput(task: Task, result: TaskRun): void {
    const title = this.tasks.length === 1 ? '' : `[${task.name}]\n`
    if (result.stdout !== '') this.stdout.push(title + result.stdout)
    if (result.stderr !== '') this.stderr.push(title + result.stderr)
    if (result.exitCode !== undefined) this.exitCode = result.exitCode
  }
}

function firstMet({ name, policy }: Task, context: PipelineContext): PolicyRule | undefined {
  return policy?.rules.find(({ when, unless }, index) => {
    try {
      return when.every((condition) => condition.isMet(context)) && unless?.isMet(context) !== true
    } catch (error) {
      throw templateFailure(error, `task "${name}", rule ${index + 1} of its policy`)
    }
  })
}

function numberOf(value: number | Template, context: PipelineContext, name: string): number {
  if (typeof value === 'number') return value
  const rendered = value.value(context)
  const number = Number(rendered instanceof Float ? rendered.value : rendered)
  if (Number.isFinite(number) && number >= 0) return number
  throw new ToolFailure('template', `task "${name}": ${value.text} gives no number for its policy`)
}

function stillWanting(task: Task, attempts: number): ToolFailure {
  const message = `task "${task.name}": its policy still asks for a retry after ${attempts} runs`
  return new ToolFailure('unknown', message, { code: 'RETRIES_EXHAUSTED' })
}
