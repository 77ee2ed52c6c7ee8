// The order of the test files. What takes long begins first, or it would be waited for alone at the end; and the files of a
// project that shares its workers follow each other, because vitest ends a worker whose next file is of another project.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Those with processes of their own wait most: they begin together, and the others fill the rest of the time. */
const TURN: Record<string, number> = { fault: 0, e2e: 0, web: 0, nats: 1, pg: 2, unit: 3 }

/** By what a new machine cannot know yet; the longest first. */
const LONG = [
  'lab/lab.fault',
  'e2e/serve.e2e',
  'attacks/bodies.e2e',
  'relay/relayDuplicates.fault',
  'relay/relayKilled.fault',
  'embedded/embedded.e2e',
  'worker/worker.e2e',
  'worker/recovery.e2e',
  'outbox/audit.e2e',
  'worker/examples.e2e',
  'subscriptions/daemon.e2e',
  'relay/relay.fault',
  'e2e/protection.e2e',
  'e2e/startup.e2e',
  'projector/projector.fault',
  'e2e/production.e2e',
  'e2e/readiness.fault',
  'state/twoDaemons.fault',
  'cli/commands.e2e',
  'e2e/shutdown.fault',
  'subscriptions/delivery.nats',
  'state/stragglers.pg',
  'replay/limits.pg',
  'state/recovery.pg',
  'replay/service.pg',
  'subscriptions/lifecycle.pg',
  'retention/retention.pg',
  'security/linearParsers',
  'security/linearPatterns',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const turn = ({ project }: TestSpecification): number => TURN[project.name] ?? 0
    const place = ({ moduleId }: TestSpecification): number => {
      const found = LONG.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      return found === -1 ? LONG.length : found
    }
    const sorted = await super.sort(files)
    return sorted.sort((left, right) => turn(left) - turn(right) || place(left) - place(right))
  }
}
