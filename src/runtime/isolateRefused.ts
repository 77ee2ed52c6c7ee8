// Many at once where that works, and one by one where it does not: when the data of one item refuses the whole attempt,
// each is tried alone, so that nobody pays for somebody else's mistake. Trouble of our own servers is nobody's mistake:
// everything that was not done yet gets that error, and nothing more is tried.
import { CpError, isOwnTrouble, toCpError } from '../errors.js'

/** One answer per item, in their order: what the attempt gave for it, or why it failed. */
export async function isolateRefused<Item, Answer>(
  items: readonly Item[],
  attempt: (some: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<(Answer | CpError)[]> {
  if (items.length === 0) return []
  try {
    return [...(await attempt(items))]
  } catch (error) {
    const failure = toCpError(error)
    if (items.length === 1 || isOwnTrouble(failure)) return items.map(() => failure)
  }
  const answers: (Answer | CpError)[] = []
  for (const item of items) {
    const last = answers.at(-1)
    const isOver = last instanceof CpError && isOwnTrouble(last)
    answers.push(isOver ? last : (await isolateRefused([item], attempt))[0]!)
  }
  return answers
}

interface Job<Answer> {
  resolve(answer: Answer): void
  reject(error: CpError): void
}

/** The same for callers that wait for their own answer. */
export async function answerJobs<J extends Job<Answer>, Answer>(
  jobs: readonly J[],
  attempt: (some: readonly J[]) => Promise<readonly Answer[]>,
): Promise<void> {
  const answers = await isolateRefused(jobs, attempt)
  for (const [index, job] of jobs.entries()) {
    const answer = answers[index]!
    if (answer instanceof CpError) job.reject(answer)
    else job.resolve(answer)
  }
}
