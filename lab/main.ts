// The command line of the lab.
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { runLab } from './lab.js'
import { FAULT_KINDS } from './plan.js'
import { renderVerdict } from './verdict.js'

const HELP = `node lab/run.mjs [options]

  --seed <text>       repeat the faults of an earlier run; default a new one
  --minutes <n>       of load and faults (3; 20 with --soak)
  --daemons <n>       (2)
  --cluster           a JetStream cluster of three nodes instead of one nats-server
  --writers <n>       loops of each kind of load (3)
  --only <names>      faults to choose from, separated by commas; default all
  --without <names>   faults to leave out
  --soak              few faults; memory and open handles must stay flat
`

const RESULTS = new URL('./results/', import.meta.url)

/** Processes must live on to be watched. */
const NOT_IN_A_SOAK = ['daemon killed', 'daemon stopped']

const namesIn = (text: string): string[] => text.split(',').filter((name) => name !== '')

function leftOut(only: readonly string[], without: readonly string[]): string[] {
  const names: string[] = FAULT_KINDS.map(({ name }) => name)
  const unknown = [...only, ...without].find((name) => !names.includes(name))
  if (unknown !== undefined) throw new Error(`there is no fault "${unknown}"; there are: ${names.join(', ')}`)
  return names.filter((name) => without.includes(name) || (only.length > 0 && !only.includes(name)))
}

/** The same run again, ready for a shell. */
function commandFor(args: readonly string[], seed: string): string {
  const others = args.filter((arg, index) => arg !== '--seed' && args[index - 1] !== '--seed')
  const words = [...others, '--seed', seed].map((word) => (/^[\w.-]+$/.test(word) ? word : `'${word}'`))
  return `node lab/run.mjs ${words.join(' ')}`
}

export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string' },
      minutes: { type: 'string' },
      daemons: { type: 'string', default: '2' },
      cluster: { type: 'boolean', default: false },
      writers: { type: 'string', default: '3' },
      only: { type: 'string', default: '' },
      without: { type: 'string', default: '' },
      soak: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  // Whatever was started is tied to the end of this process.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  const seed = values.seed ?? Math.floor(Math.random() * 1e9).toString(36)
  const report = await runLab({
    seed,
    seconds: Number(values.minutes ?? (values.soak ? 20 : 3)) * 60,
    daemons: Number(values.daemons),
    cluster: values.cluster,
    smallDisks: true,
    writers: Number(values.writers),
    overlap: values.soak ? 0 : 0.25,
    restSeconds: values.soak ? [60, 120] : [0.5, 3],
    without: leftOut(namesIn(values.only), [...namesIn(values.without), ...(values.soak ? NOT_IN_A_SOAK : [])]),
    flat: values.soak,
    ...(values.soak ? { compareMax: 3_000 } : {}),
    command: commandFor(args, seed),
    say: (line) => process.stderr.write(`${line}\n`),
  })
  mkdirSync(RESULTS, { recursive: true })
  const file = new URL(`${new Date().toISOString().replaceAll(':', '-').slice(0, 19)}-${seed}.json`, RESULTS)
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`)
  process.stdout.write(renderVerdict(report))
  return report.passed ? 0 : 1
}
