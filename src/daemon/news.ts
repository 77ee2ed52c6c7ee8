// What is told to whoever listens to /api/stream: the board, and the looks that feed it.
import type { SharedAnswer } from '../runtime/sharedAnswer.js'
import { createNewsBoard, type NewsBoard } from '../services/console/newsBoard.js'
import { createNewsSources, type NewsSources } from '../services/console/newsSources.js'
import type { InstanceOverview } from '../services/health/instanceOverview.js'
import type { Deps } from './deps.js'
import { loopErrors } from './loopErrors.js'

export function buildNews(
  deps: Deps,
  instance: () => Promise<SharedAnswer<InstanceOverview>>,
): { board: NewsBoard; sources: NewsSources } {
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
  return { board, sources }
}
