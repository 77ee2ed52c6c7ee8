// Logs: pino, pretty on a terminal, JSON otherwise. Ids are fields; payloads and secrets are never logged.
import { type DestinationStream, type Logger, pino } from 'pino'
import pretty from 'pino-pretty'

export type Log = Logger

export interface LogOptions {
  level: string
  format: 'auto' | 'json' | 'pretty'
  isTerminal: boolean
  color: boolean
  /** Where the lines go; standard error for the daemon, so that standard output stays data. */
  stream: NodeJS.WritableStream
}

// Names under which a secret might slip into a field; values are cut before they are written.
const SECRET_FIELDS = ['password', 'token', 'secret', 'authorization', 'databaseUrl', 'natsUrl']

export function createLog(options: LogOptions): Log {
  const isPretty = options.format === 'pretty' || (options.format === 'auto' && options.isTerminal)
  const destination = isPretty
    ? pretty({
        destination: options.stream as NodeJS.WritableStream & { fd?: number },
        colorize: options.color,
        translateTime: 'SYS:HH:MM:ss.l',
        // One line per message: the first start tells a dozen things before the banner.
        singleLine: true,
        ignore: 'pid,hostname,component',
        messageFormat: '{if component}[{component}] {end}{msg}',
      })
    : (options.stream as unknown as DestinationStream)
  return pino(
    {
      level: options.level,
      base: null,
      redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`]), censor: '********' },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  )
}

export function componentLog(log: Log, component: string): Log {
  return log.child({ component })
}

/** A log that writes nothing; for one-shot commands that report by their output. */
export const silentLog: Log = pino({ level: 'silent' })
