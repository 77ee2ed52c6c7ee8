// What the console shows of the instance: the overview, what the doctor finds, the settings.
import { floatValue, type JsonObject, type JsonValue } from '../../../domain/json/value.js'
import type { SharedAnswer } from '../../../runtime/sharedAnswer.js'
import type { Finding } from '../../../services/health/finding.js'
import type { InstanceOverview } from '../../../services/health/instanceOverview.js'
import type { LaneHolder, ShardStatus } from '../../../services/outbox/admin.js'
import type { Driver } from '../../../services/state/ownership.js'
import type { RouteSpec } from '../../route.js'
import { answerOf, COUNT, FLAG, type Schema, TEXT, TEXT_OR_NULL } from '../../schema.js'

export interface InstanceRouteDeps {
  console: {
    instance(): Promise<SharedAnswer<InstanceOverview>>
    findings(): Promise<SharedAnswer<Finding[]>>
    settings: readonly SettingShown[]
    version: string
    mode: string
    isReadOnly: boolean
  }
}

/** One row of `config show`, secrets masked. */
export interface SettingShown {
  name: string
  env: string
  group: string
  value: string | null
  default: string | null
  source: string
  from: string
  isSecret: boolean
  help: string
}

const listOf = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'array',
  items: answerOf(properties),
})
const COUNTS: Schema = { type: 'array', items: COUNT }
/** Of lanes. */
const HOLDER = { owner: TEXT, lanes: COUNT, live: FLAG, slots: COUNTS, lease_seconds: COUNTS }
const AGE: Schema = { type: 'number', nullable: true }

export function instanceRoutes({ console: about }: InstanceRouteDeps): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: '/api/overview',
      summary:
        'The instance at one glance: dependencies, shards, relays, workers, subscriptions, schema, and who is asking',
      access: 'public',
      effect: 'read',
      responses: {
        200: answerOf({
          at: TEXT,
          version: TEXT,
          mode: TEXT,
          ready: FLAG,
          checks: listOf({ name: TEXT, ok: FLAG, required: FLAG, detail: TEXT, ms: COUNT }),
          shards: listOf({
            shard: COUNT,
            label: TEXT,
            error: TEXT_OR_NULL,
            backlog: { type: 'object', nullable: true, description: 'rows by state' },
            dead: { type: 'integer', nullable: true },
            oldest_age_seconds: AGE,
            published_last_minute: { type: 'integer', nullable: true },
            owners: listOf(HOLDER),
            relays: listOf({ relay_id: TEXT, lanes: COUNT, published: TEXT, started_at: TEXT, alive: FLAG }),
          }),
          drivers: listOf({ shard: COUNT, share: TEXT, ...HOLDER }),
          pools: listOf({ name: TEXT, kind: TEXT, alive: FLAG, silent_seconds: AGE, capacity: { type: 'integer' } }),
          subscriptions: { type: 'object', description: 'how many are in each state' },
          stuck: listOf({ execution_id: TEXT, what: TEXT }),
          dead_messages: listOf({ subscription_id: TEXT, path: TEXT_OR_NULL, count: COUNT }),
          paused_backlogs: listOf({ subscription_id: TEXT, path: TEXT, messages: COUNT }),
          schema: listOf({ database: TEXT, applied: COUNT, pending: COUNT }),
          errors: { type: 'array', items: TEXT, description: 'why a part is missing' },
          me: answerOf({ role: TEXT, actor: TEXT, read_only: FLAG }),
        }),
      },
      handler: async ({ caller }) => {
        const { value, madeAt } = await about.instance()
        return {
          body: {
            at: new Date(madeAt).toISOString(),
            version: about.version,
            mode: about.mode,
            ...overviewJson(value),
            me: { role: caller.role, actor: caller.actor, read_only: about.isReadOnly },
          },
        }
      },
    },
    {
      method: 'GET',
      path: '/api/doctor',
      summary: 'What is wrong with the instance and how to mend it; looked for at most every 10 s',
      access: 'operator',
      effect: 'read',
      responses: {
        200: answerOf({
          checked_at: TEXT,
          problems: COUNT,
          findings: listOf({
            level: { type: 'string', enum: ['problem', 'advice'] },
            where: TEXT,
            finding: TEXT,
            fix: TEXT,
          }),
        }),
      },
      handler: async () => {
        const { value, madeAt } = await about.findings()
        const problems = value.filter(({ level }) => level === 'problem')
        const advice = value.filter(({ level }) => level !== 'problem')
        return {
          body: {
            checked_at: new Date(madeAt).toISOString(),
            problems: problems.length,
            findings: [...problems, ...advice].map((finding) => ({ ...finding })),
          },
        }
      },
    },
    {
      method: 'GET',
      path: '/api/settings',
      summary: 'Every setting of this daemon: value, origin, default, meaning; secrets masked',
      access: 'operator',
      effect: 'read',
      // Masked by themselves, as in `config show`.
      showsAll: true,
      responses: {
        200: answerOf({
          settings: listOf({
            name: TEXT,
            env: TEXT,
            group: TEXT,
            value: TEXT_OR_NULL,
            default: TEXT_OR_NULL,
            source: TEXT,
            from: TEXT,
            because: TEXT_OR_NULL,
            is_secret: FLAG,
            help: TEXT,
          }),
        }),
      },
      handler: async () => ({
        body: { settings: about.settings.map(({ isSecret, ...setting }) => ({ ...setting, is_secret: isSecret })) },
      }),
    },
  ]
}

function overviewJson(overview: InstanceOverview): JsonObject {
  const { ready, checks, shards, drivers, pools, subscriptions, schema, stuck, deadMessages, pausedBacklogs } = overview
  return {
    ready,
    checks: checks.map((check) => ({ ...check, ms: Math.round(check.ms) })),
    shards: shards.map(shardJson),
    drivers: typeof drivers === 'string' ? [] : drivers.map(holderJson),
    pools:
      typeof pools === 'string'
        ? []
        : pools.map(({ name, kind, isAlive, silentSeconds, capacity }) => ({
            name,
            kind,
            alive: isAlive,
            silent_seconds: floatValue(silentSeconds),
            capacity,
          })),
    subscriptions: typeof subscriptions === 'string' ? {} : Object.fromEntries(subscriptions),
    stuck: typeof stuck === 'string' ? [] : stuck.map(({ executionId, what }) => ({ execution_id: executionId, what })),
    dead_messages: typeof deadMessages === 'string' ? [] : deadMessages.map((dead) => ({ ...dead })),
    paused_backlogs: typeof pausedBacklogs === 'string' ? [] : pausedBacklogs.map((paused) => ({ ...paused })),
    schema: typeof schema === 'string' ? [] : schema,
    // A database that is away is the reason for several of them.
    errors: [...new Set([drivers, pools, subscriptions, schema, stuck, deadMessages, pausedBacklogs])].filter(
      (part) => typeof part === 'string',
    ),
  }
}

function holderJson({ leaseSeconds, ...holder }: LaneHolder | Driver): JsonObject {
  return { ...holder, lease_seconds: leaseSeconds }
}

function shardJson({ shard, label, error, ...status }: ShardStatus): JsonValue {
  const { backlog, dead, oldestAgeSeconds, publishedLastMinute, owners, relays } = status
  return {
    shard,
    label,
    error: error?.message ?? null,
    backlog: backlog === undefined ? null : { ...backlog },
    dead: dead ?? null,
    oldest_age_seconds: oldestAgeSeconds === undefined ? null : floatValue(oldestAgeSeconds),
    published_last_minute: publishedLastMinute ?? null,
    owners: (owners ?? []).map(holderJson),
    relays: (relays ?? []).map((relay) => ({ ...relay })),
  }
}
