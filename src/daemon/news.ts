// What the console is told beside its questions: the stream with the looks that feed it, and numbers over time.
import type { SharedAnswer } from '../runtime/sharedAnswer.js'
import { createJobs, type Jobs } from '../services/console/jobs.js'
import { createNewsBoard, type NewsBoard } from '../services/console/newsBoard.js'
import { createNewsSources, type NewsSources } from '../services/console/newsSources.js'
import { createSeries, type Series } from '../services/console/series.js'
import type { InstanceOverview } from '../services/health/instanceOverview.js'
import type { StateService } from '../services/state/stateService.js'
import type { Deps } from './deps.js'
import { loopErrors } from './loopErrors.js'

export function buildNews(
  deps: Deps,
  instance: () => Promise<SharedAnswer<InstanceOverview>>,
  state: Pick<StateService, 'stats'>,
): { board: NewsBoard; sources: NewsSources; series: Series; jobs: Jobs } {
  const { databases, clock, random, metrics } = deps
  const board = createNewsBoard({
    clock,
    onCut: () => metrics.inc('noetl_cp_streams_cut_total'),
    onListener: () => sources.nudge(),
  })
  metrics.onCollect(() => metrics.set('noetl_cp_streams', board.clients()))
  const sources = createNewsSources({
    databases,
    board,
    instance,
    clock,
    random,
    onError: loopErrors(deps, 'news sources'),
  })
  const series = createSeries({
    metrics,
    refresh: () => metrics.set('noetl_cp_state_tracked', state.stats().tracked),
    clock,
    random,
    onError: loopErrors(deps, 'series'),
  })
  const jobs = createJobs({
    clock,
    onChange: ({ id, kind, state, matched, done, refused, failed }) =>
      board.post('jobs', 'job', { id, kind, state, matched: matched ?? null, done, refused, failed }),
  })
  return { board, sources, series, jobs }
}
