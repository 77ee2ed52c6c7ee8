// The list of subcommands, in the order of the help page.
import type { CommandSpec } from '../command.js'
import { catalogDelete, catalogGet, catalogList, catalogRegister, catalogRestore } from './catalog/catalog.js'
import { catalogValidate } from './catalog/validate.js'
import {
  credentialDelete,
  credentialList,
  credentialRekey,
  credentialSet,
  credentialShow,
} from './credentials/credential.js'
import { eventsExport, eventsTail } from './events/events.js'
import { eventsAppend, eventsImport } from './events/eventsWrite.js'
import { executionList, executionShow } from './executions/execution.js'
import { executionCancel, executionFinalize, executionStart } from './executions/executionControl.js'
import { executionResultCommand } from './executions/executionResult.js'
import { executionWatch } from './executions/executionWatch.js'
import { exec, run } from './executions/run.js'
import { doctor } from './health/doctor.js'
import { idInspect, idNew } from './ids/id.js'
import { completionOf } from './instance/completion.js'
import { configShow } from './instance/config.js'
import { demo } from './instance/demo.js'
import { migrate } from './instance/migrate.js'
import { serve } from './instance/serve.js'
import { status } from './instance/status.js'
import { version } from './instance/version.js'
import { outboxAudit } from './outbox/audit.js'
import { outboxDrain } from './outbox/drain.js'
import { outboxList, outboxShow, outboxStatusCommand } from './outbox/outbox.js'
import { outboxDeadDrop, outboxDeadList, outboxDeadRedrive, outboxPurge, outboxRetry } from './outbox/work.js'
import { quarantineDrop, quarantineList, quarantineRetry } from './projector/projector.js'
import { replayDiff } from './replay/diff.js'
import { replay } from './replay/replay.js'
import { replayStep } from './replay/step.js'
import { replayVerify } from './replay/verify.js'
import { retention } from './retention/retention.js'
import { shardList, shardOfId } from './shards/shard.js'
import { snapshotList, snapshotShow } from './state/snapshotLook.js'
import { snapshotTake } from './state/snapshotTake.js'
import { snapshotPrune, snapshotRebuild, snapshotVerify } from './state/snapshotWork.js'
import { stateShow, stateWhyStuck } from './state/state.js'
import { subscriptionDeadDrop, subscriptionDeadList, subscriptionDeadRedrive } from './subscriptions/dead.js'
import {
  subscriptionActivate,
  subscriptionDeactivate,
  subscriptionDrain,
  subscriptionPause,
  subscriptionRebuild,
  subscriptionRegister,
  subscriptionResume,
} from './subscriptions/subscription.js'
import { subscriptionHistory, subscriptionList, subscriptionShow, subscriptionWatch } from './subscriptions/view.js'
import { templateEval } from './template/template.js'
import { workerList } from './workers/worker.js'

export const COMMANDS: readonly CommandSpec[] = [
  run,
  exec,
  serve,
  status,
  doctor,
  migrate,
  demo,
  executionList,
  executionShow,
  executionStart,
  executionWatch,
  executionResultCommand,
  executionCancel,
  executionFinalize,
  eventsTail,
  eventsAppend,
  eventsExport,
  eventsImport,
  replay,
  replayDiff,
  replayStep,
  replayVerify,
  stateShow,
  stateWhyStuck,
  snapshotList,
  snapshotShow,
  snapshotTake,
  snapshotVerify,
  snapshotRebuild,
  snapshotPrune,
  catalogRegister,
  catalogList,
  catalogGet,
  catalogValidate,
  catalogDelete,
  catalogRestore,
  templateEval,
  quarantineList,
  quarantineRetry,
  quarantineDrop,
  outboxStatusCommand,
  outboxDrain,
  outboxList,
  outboxShow,
  outboxRetry,
  outboxDeadList,
  outboxDeadRedrive,
  outboxDeadDrop,
  outboxAudit,
  outboxPurge,
  subscriptionRegister,
  subscriptionActivate,
  subscriptionPause,
  subscriptionResume,
  subscriptionDrain,
  subscriptionDeactivate,
  subscriptionShow,
  subscriptionList,
  subscriptionHistory,
  subscriptionWatch,
  subscriptionDeadList,
  subscriptionDeadRedrive,
  subscriptionDeadDrop,
  subscriptionRebuild,
  workerList,
  credentialSet,
  credentialList,
  credentialShow,
  credentialDelete,
  credentialRekey,
  retention,
  shardOfId,
  shardList,
  idNew,
  idInspect,
  configShow,
  completionOf(() => COMMANDS),
  version,
]
