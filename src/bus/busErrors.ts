// NATS errors → our codes. Nothing above this floor sees a NATS error code.
import { NatsError } from 'nats'
import { CpError, type ErrorCode, messageOf } from '../errors.js'

const BY_CODE: Readonly<Record<string, ErrorCode>> = {
  TIMEOUT: 'timeout',
  '503': 'unavailable', // no responders: JetStream off, or no stream for the subject
  CONNECTION_CLOSED: 'unavailable',
  CONNECTION_DRAINING: 'unavailable',
  CONNECTION_REFUSED: 'unavailable',
  CONNECTION_TIMEOUT: 'unavailable',
  DISCONNECT: 'unavailable',
  STALE_CONNECTION: 'unavailable',
  AUTHORIZATION_VIOLATION: 'unavailable',
  AUTHENTICATION_EXPIRED: 'unavailable',
  PERMISSIONS_VIOLATION: 'refused',
  MAX_PAYLOAD_EXCEEDED: 'too_large',
  BAD_SUBJECT: 'invalid_input',
  BAD_HEADER: 'invalid_input',
  '404': 'not_found',
}

export function toBusError(error: unknown, what: string): CpError {
  if (error instanceof CpError) return error
  const natsCode = error instanceof NatsError ? error.code : undefined
  const code = natsCode === undefined ? 'unavailable' : (BY_CODE[natsCode] ?? 'unavailable')
  const api = error instanceof NatsError ? error.api_error : undefined
  return new CpError(code, `${what}: ${api?.description ?? messageOf(error)}`, {
    cause: error,
    details: { natsCode, apiCode: api?.err_code },
  })
}
