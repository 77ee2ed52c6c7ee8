// The pages that come after the first one, in one file: together they are much smaller than apart.
export { Catalog } from './catalog/Catalog'
export { Compare } from './compare/Compare'
export { Execution } from './execution/Execution'
export { WhyDrawer } from './executions/WhyDrawer'
export { HelpPage } from './help/HelpPage'
export { Snapshots } from './snapshots/Snapshots'
export { Subscriptions } from './subscriptions/Subscriptions'
