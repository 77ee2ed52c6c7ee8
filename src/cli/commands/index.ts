// The list of subcommands, in the order of the help page.
import type { CommandSpec } from '../command.js'
import { catalogDelete, catalogGet, catalogList, catalogRegister, catalogRestore, catalogValidate } from './catalog.js'
import { completion } from './completion.js'
import { configShow } from './config.js'
import { demo } from './demo.js'
import { doctor } from './doctor.js'
import { eventsExport, eventsTail } from './events.js'
import { eventsAppend, eventsImport } from './eventsWrite.js'
import { executionList, executionShow } from './execution.js'
import { executionCancel, executionFinalize, executionStart } from './executionControl.js'
import { idInspect, idNew } from './id.js'
import { migrate } from './migrate.js'
import { outboxList, outboxShow, outboxStatusCommand } from './outbox.js'
import { outboxAudit } from './outboxAudit.js'
import { outboxDrain } from './outboxDrain.js'
import { outboxDeadList, outboxDeadRedrive, outboxPurge, outboxRetry } from './outboxWork.js'
import { quarantineDrop, quarantineList, quarantineRetry } from './projector.js'
import { replay } from './replay.js'
import { replayDiff } from './replayDiff.js'
import { replayStep } from './replayStep.js'
import { replayVerify } from './replayVerify.js'
import { retention } from './retention.js'
import { serve } from './serve.js'
import { shardList, shardOfId } from './shard.js'
import { snapshotList, snapshotShow } from './snapshotLook.js'
import { snapshotTake } from './snapshotTake.js'
import { snapshotPrune, snapshotRebuild, snapshotVerify } from './snapshotWork.js'
import { stateShow, stateWhyStuck } from './state.js'
import { status } from './status.js'
import {
  subscriptionActivate,
  subscriptionDeactivate,
  subscriptionDrain,
  subscriptionPause,
  subscriptionRebuild,
  subscriptionRegister,
  subscriptionResume,
} from './subscription.js'
import { subscriptionDeadList, subscriptionDeadRedrive } from './subscriptionDead.js'
import { subscriptionHistory, subscriptionList, subscriptionShow, subscriptionWatch } from './subscriptionView.js'
import { templateEval } from './template.js'
import { version } from './version.js'

export const COMMANDS: readonly CommandSpec[] = [
  serve,
  status,
  doctor,
  migrate,
  demo,
  executionList,
  executionShow,
  executionStart,
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
  subscriptionRebuild,
  retention,
  shardOfId,
  shardList,
  idNew,
  idInspect,
  configShow,
  completion,
  version,
]
