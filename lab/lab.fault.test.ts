// Promise: under load and a seeded minute of faults nothing that was acknowledged is lost, repeated or out of order, and
// everything heals by itself. `make chaos` is the same for longer and with other seeds; see docs/chaos.md.
import { expect, it } from 'vitest'
import { scaled } from '../test/support/scale.js'
import { runLab } from './lab.js'
import { renderVerdict } from './verdict.js'

const SEED = 'make-test-1'

it(`a short run with the seed ${SEED}`, async () => {
  const lines: string[] = []
  const report = await runLab({
    seed: SEED,
    seconds: scaled(15, 60),
    daemons: 2,
    cluster: false,
    smallDisks: true,
    writers: 1,
    overlap: 0.25,
    restSeconds: [0.2, 1],
    command: `node lab/run.mjs --seed ${SEED}`,
    say: (line) => lines.push(line),
  })
  // A failure must be readable where it happened.
  if (!report.passed) console.error(`${lines.join('\n')}\n${renderVerdict(report)}`)
  expect(report.violations).toEqual([])
  expect(report.faults.length).toBeGreaterThan(0)
  expect(report.tally.acknowledged).toBeGreaterThan(0)
  expect(report.tally.delivered).toBe(report.tally.outboxRows)
}, 600_000)
