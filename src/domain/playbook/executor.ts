// The `executor` of a playbook: where it begins and ends, and what it asks of the place it runs in.

import type { Reader } from '../catalog/violation.js'
import { EXECUTOR_KEYS, EXECUTOR_POLICY_KEYS, EXECUTOR_SPEC_KEYS, FAILURE_KEYS, warnUnknownKeys } from './knownKeys.js'
import type { FailureMode, Plan, Profile } from './plan.js'
import { readTimeoutMs } from './seconds.js'
import type { PlanSite } from './site.js'

export const FAILURE_MODES = ['fail_fast', 'best_effort'] as const
const PROFILES: readonly Profile[] = ['local', 'distributed', 'auto']
const ENTRY = 'start'

export interface ExecutorPlan
  extends Pick<Plan, 'entry' | 'finalStep' | 'noNextIsError' | 'profile' | 'requires' | 'timeoutMs'> {
  readonly failureMode: FailureMode
}

export function readExecutor(root: Reader, stepIndex: ReadonlyMap<string, number>, site: PlanSite): ExecutorPlan {
  const executor = root.mapping('executor')
  warnUnknownKeys(executor, EXECUTOR_KEYS, site)
  const spec = executor?.mapping('spec')
  warnUnknownKeys(spec, EXECUTOR_SPEC_KEYS, site)
  const requires = executor?.mapping('requires')
  const policy = spec?.mapping('policy')
  warnUnknownKeys(policy, EXECUTOR_POLICY_KEYS, site)
  const failure = policy?.mapping('failure')
  warnUnknownKeys(failure, FAILURE_KEYS, site)
  const stepAt = (key: string): number | undefined => {
    const name = spec?.text(key)
    const index = name === undefined ? undefined : stepIndex.get(name)
    if (name !== undefined && index === undefined) spec?.wrong(key, `there is no step ${JSON.stringify(name)}`)
    return index
  }
  return {
    // A playbook without a step of that name begins with its first one.
    entry: stepAt('entry_step') ?? stepIndex.get(ENTRY) ?? 0,
    finalStep: stepAt('final_step'),
    noNextIsError: spec?.boolean('no_next_is_error') ?? false,
    profile: readProfile(executor, site),
    requires: { tools: texts(requires, 'tools'), features: texts(requires, 'features') },
    timeoutMs: spec === undefined ? undefined : readTimeoutMs(spec, 'timeout', site),
    failureMode: failure?.oneOf('mode', FAILURE_MODES) ?? 'fail_fast',
  }
}

function readProfile(executor: Reader | undefined, site: PlanSite): Profile {
  const value = executor?.value('profile')
  if (executor === undefined || value === undefined) return 'auto'
  const known = PROFILES.find((one) => one === value)
  if (known === undefined)
    site.problems.warn(`${executor.path}/profile`, `is none of ${PROFILES.join(', ')}; auto is assumed`)
  return known ?? 'auto'
}

function texts(reader: Reader | undefined, key: string): string[] {
  const value = reader?.value(key)
  if (reader === undefined || value === undefined) return []
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value as string[]
  reader.wrong(key, 'must be a list of texts')
  return []
}
