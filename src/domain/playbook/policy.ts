// Flow control on a tool: `spec.policy`, and its short forms `eval` and `retry`, read into one list of rules. The first rule
// whose guard is met decides. The planner reads them to find mistakes, the worker to follow them.

import type { Reader } from '../catalog/violation.js'
import { Float, isJsonObject, type JsonObject, type JsonValue } from '../json/value.js'
import type { Condition } from '../template/condition.js'
import { Template } from '../template/template.js'
import { readAssignments } from './assignments.js'
import { POLICY_KEYS, RETRY_KEYS, RULE_KEYS, THEN_KEYS, warnUnknownKeys } from './knownKeys.js'
import type { Assignment, Count } from './plan.js'
import { listed } from './problems.js'
import type { PlanSite } from './site.js'

const ACTIONS = ['continue', 'retry', 'break', 'jump', 'fail'] as const
const BACKOFFS = ['none', 'fixed', 'linear', 'exponential'] as const

export type PolicyAction = (typeof ACTIONS)[number]

export interface Policy {
  readonly rules: readonly PolicyRule[]
  /** For a success that no rule matches; an error that no rule matches fails. */
  readonly onUnmatched: 'continue' | 'fail'
}

export interface PolicyRule {
  /** All must be met; none means always. */
  readonly when: readonly Condition[]
  readonly unless: Condition | undefined
  readonly action: PolicyAction
  /** Runs in all, the first included. */
  readonly attempts: Count
  readonly backoff: (typeof BACKOFFS)[number]
  /** Between runs when the backoff is exponential. */
  readonly multiplier: number
  readonly delaySeconds: number | Template
  readonly maxDelaySeconds: number | undefined
  readonly hasJitter: boolean
  /** The label to jump to. */
  readonly to: string | undefined
  readonly assignments: readonly Assignment[]
}

const ATTEMPTS = 3
const DELAY_SECONDS = 1
const MULTIPLIER = 2

const PLAIN_RULE = {
  when: [],
  unless: undefined,
  action: 'continue',
  attempts: ATTEMPTS,
  backoff: 'none',
  multiplier: MULTIPLIER,
  delaySeconds: DELAY_SECONDS,
  maxDelaySeconds: undefined,
  hasJitter: false,
  to: undefined,
  assignments: [],
} as const satisfies PolicyRule

/** Undefined when the tool has none of the three. `labels` are those that may be jumped to. */
export function readPolicy(tool: Reader, labels: ReadonlySet<string>, site: PlanSite): Policy | undefined {
  const policy = tool.mapping('spec')?.mapping('policy')
  warnUnknownKeys(policy, POLICY_KEYS, site)
  const written = policy?.mappings('rules')?.map((rule) => readRule(rule, labels, site))
  const short = tool.mappings('eval')?.map((entry) => readEval(entry, labels, site))
  const retry = readRetry(tool, site)
  if (policy === undefined && short === undefined && retry === undefined) return undefined
  const rules = [...(written ?? []), ...(short ?? []), retry].filter((rule) => rule !== undefined)
  return { rules, onUnmatched: policy?.oneOf('on_unmatched', ['continue', 'fail']) ?? 'continue' }
}

/** Every template the rules look at, for what the worker must be given. */
export function policyTemplates(policy: Policy | undefined): Template[] {
  return (policy?.rules ?? []).flatMap(({ when, unless, attempts, delaySeconds, assignments }) => [
    ...[...when, unless].flatMap((condition) => condition?.template ?? []),
    ...[attempts, delaySeconds].filter((value) => value instanceof Template),
    ...assignments.flatMap(({ value }) => value.templates.map(({ template }) => template)),
  ])
}

function readRule(rule: Reader, labels: ReadonlySet<string>, site: PlanSite): PolicyRule | undefined {
  warnUnknownKeys(rule, RULE_KEYS, site)
  const otherwise = rule.mapping('else')
  // The short form without `then` is in use.
  const then = otherwise === undefined ? rule.mapping('then') : (otherwise.mapping('then') ?? otherwise)
  if (then === undefined) {
    return site.problems.error(
      rule.path,
      'has neither then nor else; write {when: …, then: {do: …}} or {else: {do: …}}',
    )
  }
  const when = otherwise === undefined ? site.condition(rule.value('when'), `${rule.path}/when`, 'worker') : undefined
  return {
    ...PLAIN_RULE,
    ...readAction(then, labels, site),
    when: when === undefined ? [] : [when],
    assignments: readAssignments(then.value('set'), { pointer: `${then.path}/set`, bare: 'ctx', by: 'worker' }, site),
  }
}

function readEval(entry: Reader, labels: ReadonlySet<string>, site: PlanSite): PolicyRule | undefined {
  const then = entry.mapping('else') ?? entry
  const when = then === entry ? site.condition(entry.value('expr'), `${entry.path}/expr`, 'worker') : undefined
  if (then === entry && !entry.has('expr')) return site.problems.error(entry.path, 'has neither expr nor else')
  const set = { pointer: `${then.path}/set_vars`, bare: 'vars', by: 'worker' } as const
  return {
    ...PLAIN_RULE,
    ...readAction(then, labels, site, 'target'),
    when: when === undefined ? [] : [when],
    assignments: readAssignments(then.value('set_vars'), set, site),
  }
}

function readAction(then: Reader, labels: ReadonlySet<string>, site: PlanSite, to = 'to'): Partial<PolicyRule> {
  warnUnknownKeys(then, THEN_KEYS, site)
  const action = then.oneOf('do', ACTIONS) ?? 'continue'
  const label = then.text(to)
  if (action === 'jump' && !then.has(to)) site.problems.error(then.path, `jumps nowhere; name a task in ${to}`)
  if (action === 'jump' && label !== undefined && !labels.has(label)) {
    const known = listed(labels)
    site.problems.error(`${then.path}/${to}`, `there is no task ${JSON.stringify(label)} here; there are ${known}`)
  }
  return {
    action,
    attempts: site.count(then, 'attempts', 1, 'worker') ?? ATTEMPTS,
    backoff: then.oneOf('backoff', BACKOFFS) ?? 'none',
    delaySeconds: readSeconds(then, 'delay', site) ?? DELAY_SECONDS,
    maxDelaySeconds: then.has('max_delay') ? then.positive('max_delay') : undefined,
    to: label,
  }
}

const FAILED: Condition = failedCondition()

function failedCondition(): Condition {
  const template = Template.compileExpression("output.status == 'error'")
  return { template, isMet: (context) => template.value(context) === true }
}

function readRetry(tool: Reader, site: PlanSite): PolicyRule | undefined {
  const value = tool.value('retry')
  if (value === undefined || value === false) return undefined
  const rule = { ...PLAIN_RULE, when: [FAILED], action: 'retry' } as const
  if (value === true) return rule
  const pointer = `${tool.path}/retry`
  if (isJsonObject(value)) return { ...rule, ...readRetryOptions(site.reader(value, pointer), value, site) }
  const attempts = site.count(tool, 'retry', 1, 'worker')
  return attempts === undefined ? undefined : { ...rule, attempts }
}

function readRetryOptions(retry: Reader, source: JsonObject, site: PlanSite): Partial<PolicyRule> {
  warnUnknownKeys(retry, RETRY_KEYS, site)
  const either = (...keys: readonly string[]): string => keys.find((key) => retry.has(key)) ?? keys[0]!
  const when = either('retry_when', 'when')
  const guards = [
    site.condition(retry.value(when), `${retry.path}/${when}`, 'worker'),
    oneOf('output.error.kind', retry, 'retry_on', site),
    oneOf('output.error.http_status', retry, 'retry_on_status', site),
  ]
  return {
    when: [FAILED, ...guards.filter((guard) => guard !== undefined)],
    unless: site.condition(retry.value('stop_when'), `${retry.path}/stop_when`, 'worker'),
    attempts: site.count(retry, either('max_attempts', 'attempts'), 1, 'worker') ?? ATTEMPTS,
    ...readRetryBackoff(retry, source),
    delaySeconds: readSeconds(retry, either('initial_delay', 'delay', 'backoff_seconds'), site) ?? DELAY_SECONDS,
    maxDelaySeconds: retry.has('max_delay') ? retry.positive('max_delay') : undefined,
    hasJitter: numberOf(source['jitter']) !== undefined || source['jitter'] === true,
  }
}

/** Retried only for what is listed: kinds of errors, or statuses of HTTP. */
function oneOf(path: string, retry: Reader, key: string, site: PlanSite): Condition | undefined {
  const listed = retry.value(key)
  if (listed === undefined) return undefined
  const isFlat = Array.isArray(listed) && listed.every((one) => typeof one === 'string' || typeof one === 'number')
  if (isFlat) return site.condition(`${path} in ${JSON.stringify(listed)}`, `${retry.path}/${key}`, 'worker')
  return site.problems.error(`${retry.path}/${key}`, 'must be a list of error kinds or statuses')
}

/** A number multiplies the delay after each run; a word names the backoff. */
function readRetryBackoff(retry: Reader, source: JsonObject): Partial<PolicyRule> {
  const key = retry.has('backoff_multiplier') ? 'backoff_multiplier' : 'backoff'
  if (!retry.has(key)) return {}
  if (numberOf(source[key]) === undefined) return { backoff: retry.oneOf(key, BACKOFFS) ?? 'none' }
  const multiplier = retry.positive(key)
  return multiplier === undefined ? {} : { backoff: 'exponential', multiplier }
}

function readSeconds(reader: Reader, key: string, site: PlanSite): number | Template | undefined {
  const value = reader.value(key)
  if (value === undefined) return undefined
  const pointer = `${reader.path}/${key}`
  if (typeof value === 'string') {
    const template = site.text(value, pointer, 'worker')
    if (template !== undefined) return template
  }
  const seconds = numberOf(value)
  if (seconds !== undefined && seconds >= 0) return seconds
  return site.problems.error(pointer, 'must be a number of seconds from 0, or a template')
}

function numberOf(value: JsonValue | undefined): number | undefined {
  const number = value instanceof Float ? value.value : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
