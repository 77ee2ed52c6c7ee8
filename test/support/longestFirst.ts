// The order of the test files. What takes long begins first, or it would be waited for alone at the end; and the files of a
// project that shares its workers follow each other, because vitest ends a worker whose next file is of another project.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Those with processes of their own wait most: they begin together, and the others fill the rest of the time. */
const TURN: Record<string, number> = { fault: 0, e2e: 0, web: 0, nats: 1, pg: 2, unit: 3 }

/** By what a new machine cannot know yet; the longest first. Those that mostly wait (fault) stand between those that work. */
const LONG = [
  'attacks/bodies.e2e',
  'outbox/relay/relayDuplicates.fault',
  'embedded/embedded.e2e',
  'e2e/serve.e2e',
  'worker/handOver.fault',
  'lab/lab.fault',
  'web/executions.web',
  'outbox/relay/relayKilled.fault',
  'web/people.web',
  'worker/worker.e2e',
  'commands/examples.e2e',
  'outbox/relay/relayBroker.fault',
  'web/live.web',
  'outbox/audit.e2e',
  'projector/projector.fault',
  'subscriptions/daemon.e2e',
  'e2e/readiness.fault',
  'bus/connect.fault',
  'e2e/shutdown.fault',
  'subscriptions/delivery.nats',
  'subscriptions/foreignPause.nats',
  'replay/limits.pg',
  'state/stragglers.pg',
  'subscriptions/lifecycle.pg',
  'replay/service.pg',
  'state/recovery.pg',
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
    return sorted.sort(
      (left, right) =>
        turn(left) - turn(right) || place(left) - place(right) || left.project.name.localeCompare(right.project.name),
    )
  }
}
