// Decides how the public API is protected. While no tool may run here and no credential is stored, programs of this
// machine may read and write. As soon as one of both is so, a write needs a token. An operator may open it again;
// `doctor` then says so.

export interface ApiFacts {
  /** NOETL_API_TOKEN is set: every call needs it. */
  hasApiToken: boolean
  /** NOETL_ALLOW_OPEN_API. */
  allowOpenApi: boolean
  /** Listens on a loopback address only. */
  isLocal: boolean
  /** Kinds of tools that our own worker may run (NOETL_CP_WORKER_ALLOW). */
  workerAllow: readonly string[]
  hasCredentials: boolean
}

/**
 * token: every call needs one. writes_token: reads are open on this machine, writes need one. local: open on this
 * machine. open: the operator opened it to whoever reaches it.
 */
export const API_PROTECTIONS = ['token', 'writes_token', 'local', 'open'] as const
export type ApiProtection = (typeof API_PROTECTIONS)[number]

export function apiProtection(facts: ApiFacts): ApiProtection {
  if (facts.hasApiToken) return 'token'
  if (canDoHarm(facts)) return facts.allowOpenApi ? 'open' : 'writes_token'
  return facts.isLocal ? 'local' : 'open'
}

/** Whether a write could start code or use a stored credential. */
export function canDoHarm(facts: Pick<ApiFacts, 'workerAllow' | 'hasCredentials'>): boolean {
  return facts.workerAllow.length > 0 || facts.hasCredentials
}
