// What reading a tool needs to know of the rest of the playbook.

import type { Profile } from './plan.js'
import type { PlanSite } from './site.js'
import type { ToolReader } from './toolSource.js'

export interface ToolContext {
  readonly site: PlanSite
  readonly tools: ToolReader
  readonly profile: Profile
}
