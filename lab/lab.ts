// One run of the lab: servers and daemons, load, faults, healing, quiet, and then the judgement.
import { type JetStreamManager, type NatsConnection, RetentionPolicy } from 'nats'
import { messageOf } from '../src/errors.js'
import { pullDocument } from '../test/subscriptions/specs.js'
import { playbook } from '../test/support/core.js'
import { until } from '../test/support/until.js'
import { type Agreement, judgeAgreement } from './agreement.js'
import { runAudit } from './audit.js'
import { type Client, createClient } from './client.js'
import { collectEvidence, type Evidence, unfinished } from './evidence.js'
import { impossibleFaults, stopJudged, strike } from './faults.js'
import { type Journal, openJournal } from './journal.js'
import { type Judgement, judgeEvidence } from './judge.js'
import { judgeLeases } from './leases.js'
import { type Ledger, openLedger } from './ledger.js'
import { auditOutbox } from './load/audits.js'
import { chainEvents } from './load/chains.js'
import { runExecutions } from './load/executions.js'
import { finishStarted } from './load/finishers.js'
import { writeForeignExecutions, writeStragglers } from './load/foreignWriter.js'
import { type Load, type LoadContext, PLAYBOOK } from './load/loadContext.js'
import { readBack } from './load/readers.js'
import { feedSource, pauseAndResume, startedCount, startedNumbers } from './load/subscriptions.js'
import { sendNonsense } from './load/wrongInput.js'
import { planFaults } from './plan.js'
import { randomFrom } from './random.js'
import { assertReady, measureRecovery } from './recovery.js'
import { openSite, type Site, SOURCE, STREAM } from './site.js'
import { trailOf } from './trail.js'
import type { Report } from './verdict.js'
import { judgeVitals, type VitalsSummary, watchVitals } from './vitals.js'

export interface LabOptions {
  seed: string
  /** Of load and faults; starting, healing and judging come on top. */
  seconds: number
  daemons: number
  cluster: boolean
  smallDisks: boolean
  /** Loops of each kind of load. */
  writers: number
  overlap: number
  restSeconds: readonly [number, number]
  /** Names of faults to leave out. */
  without?: readonly string[]
  /** Compare at most so many executions one by one, chosen by the seed; default all. */
  compareMax?: number
  /** Memory and open handles must stay flat; only a long and calm run can tell. */
  flat?: boolean
  command: string
  say(line: string): void
}

const ROUNDS_MAX = 2_000
const QUIET_MS = 300_000
const LOAD_END_MS = 330_000
const TRAILS_MAX = 8
const SUBSCRIPTION_PATH = 'chaos/orders'

interface Bench {
  site: Site
  journal: Journal
  ledger: Ledger
  client: Client
  link: NatsConnection
  jsm: JetStreamManager
  subscriptionId: string
  context: LoadContext
  isOver: { value: boolean }
}

export async function runLab(options: LabOptions): Promise<Report> {
  const journal = openJournal(options.say)
  const site = await openSite({
    daemons: options.daemons,
    cluster: options.cluster,
    smallDisks: options.smallDisks,
    flat: options.flat === true,
    journal,
  })
  let link: NatsConnection | undefined
  try {
    link = await site.nats.connect()
    const bench = await prepare(options, site, journal, link)
    options.say(
      `${site.daemons.length} daemons, 2 shards, ${site.nats.nodes.length} nats-server(s) and a mirror are up after ${journal.seconds().toFixed(1)} s`,
    )
    return await run(options, bench)
  } finally {
    await link?.close()
    await site.stop()
  }
}

async function prepare(options: LabOptions, site: Site, journal: Journal, link: NatsConnection): Promise<Bench> {
  const ledger = openLedger()
  const random = randomFrom(options.seed)
  const client = createClient({ daemons: site.daemons, random: random.fork('client'), ledger, journal })
  const jsm = await link.jetstreamManager()
  await jsm.streams.add({
    name: SOURCE,
    subjects: [`${SOURCE}.>`],
    retention: RetentionPolicy.Limits,
    num_replicas: site.nats.replicas,
  })
  const post = async (path: string, body: object): Promise<any> => {
    const answer = await client.insist('POST', path, body)
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
    return answer
  }
  await post('/api/catalog/register', { content: playbook(PLAYBOOK) })
  const registered = await post('/api/catalog/register', { content: playbook('chaos/handler') })
  await post('/api/catalog/register', {
    content: pullDocument({
      path: SUBSCRIPTION_PATH,
      stream: SOURCE,
      subject: `${SOURCE}.orders`,
      playbook: 'chaos/handler',
    }),
  })
  const subscriptionId = (await post('/api/subscriptions', { path: SUBSCRIPTION_PATH })).body.subscription_id as string
  await post(`/api/subscriptions/${subscriptionId}/activate`, {})
  await until('the stream is there', () => jsm.streams.info(STREAM).then(() => true), { timeoutMs: 60_000 })
  const isOver = { value: false }
  const pausing = random.fork('pauses')
  const context: LoadContext = {
    site,
    client,
    ledger,
    journal,
    random: random.fork('load'),
    catalogId: /"catalog_id":\s*"?(\d+)/.exec(registered.text)![1]!,
    isOver: () => isOver.value,
    pause: (minMs, maxMs) => new Promise((resolve) => setTimeout(resolve, pausing.between(minMs, maxMs))),
  }
  for (const { name, reason } of impossibleFaults(site)) journal.skipped.push({ name, reason })
  for (const { name, reason } of journal.skipped) options.say(`skipped: ${name} (${reason})`)
  return { site, journal, ledger, client, link, jsm, subscriptionId, context, isOver }
}

async function run(options: LabOptions, bench: Bench): Promise<Report> {
  const { journal, site, ledger } = bench
  const vitals = watchVitals(site.processes, journal, site.memoryReports)
  const load = startLoad(options, bench)
  const recoveries = await injectFaults(options, bench)
  bench.isOver.value = true
  await endLoad(load, journal)
  await becomeQuiet(bench)
  const summary: VitalsSummary = vitals.stop()
  options.say(`quiet at ${journal.seconds().toFixed(1)} s; reading everything back`)

  const evidence = await collectEvidence(site)
  const judgement = judgeEvidence(evidence, ledger, bench.subscriptionId)
  const agreement = await compareAll(bench, evidence, options)
  for (const daemon of site.processes) await stopJudged(daemon, journal)
  const found = [
    ...judgement.violations,
    ...agreement.violations,
    ...(await judgeLeases([...site.shards, site.mirror.database])),
    ...(options.flat === true ? judgeVitals(summary) : []),
  ]
  for (const violation of found) journal.report(violation)
  return reportOf(options, bench, { judgement, agreement, recoveries, summary, evidence })
}

function startLoad(options: LabOptions, bench: Bench): Promise<void>[] {
  const js = bench.link.jetstream()
  const loads: [number, Load][] = [
    [options.writers * 2, runExecutions],
    [options.writers, writeForeignExecutions],
    [1, writeStragglers],
    [options.writers, readBack],
    [1, sendNonsense],
    [1, feedSource(js)],
    [1, pauseAndResume(js, bench.subscriptionId)],
    [options.writers, finishStarted(bench.subscriptionId)],
    [options.writers, chainEvents],
    [1, auditOutbox],
  ]
  return loads.flatMap(([count, load], kind) =>
    Array.from({ length: count }, (_, index) =>
      load({ ...bench.context, random: bench.context.random.fork(`${kind}/${index}`) }),
    ),
  )
}

async function injectFaults(options: LabOptions, bench: Bench): Promise<number[]> {
  const { journal, site } = bench
  const without = [...(options.without ?? []), ...journal.skipped.map(({ name }) => name)]
  const rounds = planFaults({ ...options, rounds: ROUNDS_MAX, without })
  const deadline = journal.seconds() + options.seconds
  const recoveries: number[] = []
  for (const { faults, restSeconds } of rounds) {
    await bench.context.pause(restSeconds * 1000, restSeconds * 1000)
    if (journal.seconds() > deadline) break
    const names = faults.map(({ name }) => name).join(' and ')
    await strike(site, faults, bench)
    const recovery = await measureRecovery(site, bench.jsm, journal, names)
    const shown = journal.faults.slice(-faults.length).map(({ name, victim }) => `${name} (${victim})`)
    options.say(
      `${journal.seconds().toFixed(1).padStart(6)} s  ${shown.join(' and ')}: works again after ${recovery?.toFixed(1) ?? 'never'} s`,
    )
    if (recovery === undefined) break
    recoveries.push(recovery)
  }
  return recoveries
}

async function endLoad(load: readonly Promise<void>[], journal: Journal): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), LOAD_END_MS)
  })
  const ended = await Promise.race([Promise.allSettled(load), late])
  clearTimeout(timer)
  if (ended === 'late') {
    journal.report({
      invariant: 'I8',
      kind: 'stuck',
      message: `a client still waits ${LOAD_END_MS / 1000} s after everything was healed`,
    })
    return
  }
  for (const result of ended)
    if (result.status === 'rejected')
      journal.report({ invariant: 'I8', kind: 'stuck', message: `a client gave up: ${messageOf(result.reason)}` })
}

async function becomeQuiet({ site, context, ledger, journal, subscriptionId }: Bench): Promise<void> {
  const { sourced, restored } = ledger
  const unstarted = async (): Promise<number> => {
    const open = sourced.size - restored.sourced.size - (await startedCount(context, subscriptionId))
    if (open > 0 || restored.times === 0) return open
    const started = await startedNumbers(context, subscriptionId)
    return [...sourced].filter((n) => !restored.sourced.has(n) && !started.has(n)).length
  }
  try {
    if (restored.times > 0) await closeGap(site)
    await until(
      'everything is quiet',
      async () => {
        for (const daemon of site.processes) await assertReady(daemon.name, daemon.running()?.url)
        const waiting = await unfinished(site, unstarted)
        if (waiting.length > 0) throw new Error(waiting.join(', '))
        return true
      },
      { timeoutMs: QUIET_MS, everyMs: 250 },
    )
  } catch (error) {
    journal.report({ invariant: 'I8', kind: 'stuck', message: messageOf(error) })
  }
}

/** What the broker lost with its disk is sent again by whoever runs the documented command. */
async function closeGap(site: Site): Promise<void> {
  await until(
    'the audit finds nothing missing',
    async () => {
      const { code, stdout, stderr } = await runAudit(site, 60)
      if (code !== 0) throw new Error(`exit code ${code}: ${`${stdout}${stderr}`.slice(0, 500)}`)
      return true
    },
    { timeoutMs: QUIET_MS, everyMs: 1_000 },
  )
}

async function compareAll({ site, client }: Bench, evidence: Evidence, options: LabOptions): Promise<Agreement> {
  const places = evidence.shards.flatMap(({ executions }, shard) =>
    executions
      // A subscription has no live state.
      .filter((row) => !row.is_subscription)
      .map((row) => ({ executionId: row.execution_id, database: site.shards[shard]!, status: row.status })),
  )
  const chosen = randomFrom(options.seed).fork('compare').shuffled(places).slice(0, options.compareMax)
  return judgeAgreement(chosen, {
    state: async (executionId) => (await client.insist('GET', `/api/executions/${executionId}/state`)).text,
    replay: async (executionId) => {
      const { headers, text } = await client.insist(
        'GET',
        `/api/replay/state?execution_id=${executionId}&limit=100000&from_snapshot=true`,
      )
      return {
        checksum: headers.get('x-noetl-checksum') ?? '',
        seed: headers.get('x-noetl-seed') ?? '',
        text,
      }
    },
  })
}

interface Findings {
  judgement: Judgement
  agreement: Agreement
  recoveries: number[]
  summary: VitalsSummary
  evidence: Evidence
}

function reportOf(options: LabOptions, { journal, ledger }: Bench, findings: Findings): Report {
  const { violations: _, ...agreement } = findings.agreement
  return {
    seed: options.seed,
    cluster: options.cluster,
    command: options.command,
    seconds: journal.seconds(),
    faults: journal.faults,
    skipped: journal.skipped,
    tally: findings.judgement.tally,
    counts: ledger.counts,
    agreement,
    recoveries: findings.recoveries,
    stops: journal.stops,
    vitals: findings.summary,
    violations: journal.violations,
    trails: journal.violations
      .slice(0, TRAILS_MAX)
      .map((violation) => trailOf(violation, findings.evidence, ledger, journal)),
    passed: journal.violations.length === 0,
  }
}
