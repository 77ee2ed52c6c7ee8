// Which of the 1024 machine slots a process mints ids with: an explicit setting, else a hash of the host
// name. It only proposes a slot; two live processes are kept apart by the lease in the database, never by
// this hash, which collides for one pair in a thousand.

import { CpError } from '../../errors.js'

export const MACHINE_ID_MAX = 1023
/** Daemons lease 0..1007; one-shot commands that write lease the rest. */
export const DAEMON_MACHINE_ID_MAX = 1007
export const ONE_SHOT_MACHINE_ID_MIN = DAEMON_MACHINE_ID_MAX + 1

const FNV_OFFSET = 0xcbf29ce484222325n
const FNV_PRIME = 0x100000001b3n
const FALLBACK_HOST = 'noetl-server-local'

export interface MachineIdSources {
  /** NOETL_SERVER_MACHINE_ID as written. */
  explicit?: string | undefined
  /** HOSTNAME, COMPUTERNAME and the operating system's own answer, in this order. */
  hostname?: string | undefined
  computerName?: string | undefined
  osHostname?: string | undefined
}

export interface ProposedMachineId {
  machineId: number
  /** An explicit id that is taken stops the start; a derived one moves on to the next free slot. */
  explicit: boolean
}

export function proposeMachineId(sources: MachineIdSources): ProposedMachineId {
  if (sources.explicit !== undefined && sources.explicit !== '') {
    return { machineId: parseMachineId(sources.explicit), explicit: true }
  }
  const host = [sources.hostname, sources.computerName, sources.osHostname].find((name) => name) ?? FALLBACK_HOST
  return { machineId: machineIdOfHost(host), explicit: false }
}

/** Never truncated: a masked 1024 would quietly share slot 0 with somebody else. */
export function parseMachineId(text: string, setting = 'NOETL_SERVER_MACHINE_ID'): number {
  const value = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(value <= MACHINE_ID_MAX)) {
    throw new CpError('config', `${setting} must be a whole number from 0 to ${MACHINE_ID_MAX}; correct or unset it`, {
      details: { setting },
    })
  }
  return value
}

/** The low ten bits of FNV-1a 64 over the UTF-8 bytes: a plain mask, no folding of the high bits. */
export function machineIdOfHost(host: string): number {
  return Number(fnv1a64(host) & BigInt(MACHINE_ID_MAX))
}

export function fnv1a64(text: string): bigint {
  let hash = FNV_OFFSET
  for (const byte of Buffer.from(text, 'utf8')) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV_PRIME)
  return hash
}
