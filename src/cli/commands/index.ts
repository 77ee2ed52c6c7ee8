// The list of subcommands, in the order of the help page.
import type { CommandSpec } from '../command.js'
import { completion } from './completion.js'
import { configShow } from './config.js'
import { doctor } from './doctor.js'
import { migrate } from './migrate.js'
import { serve } from './serve.js'
import { status } from './status.js'
import { version } from './version.js'

export const COMMANDS: readonly CommandSpec[] = [serve, status, doctor, migrate, configShow, completion, version]
