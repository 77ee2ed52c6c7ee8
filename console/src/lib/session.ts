// Who is at the screen. A one-time code in the address, or a token that is pasted once, becomes a cookie that no script can
// read; nothing of it is kept here.
import { computed, effect, signal } from '@preact/signals'
import { ApiError, get, refusals, send, silentSince } from './api'
import { dropHash } from './router'

const ROLES = ['none', 'viewer', 'writer', 'operator'] as const
export type Role = (typeof ROLES)[number]

/** Whether one may do less than the other. */
export function isBelow(role: Role, other: Role): boolean {
  return ROLES.indexOf(role) < ROLES.indexOf(other)
}

export interface Session {
  role: Role
  actor: string
  by: 'token' | 'session' | 'nothing'
  expires_at: string | null
  read_only: boolean
  /** Of the instance. */
  mode: string
  /** How commands are called where the daemon runs, with {} in place of their words. */
  call: string
}

export const session = signal<Session | undefined>(undefined)

/** A command as it can be pasted: the program may be no further than the folder it was built in. */
export function commandLine(words: string): string {
  return (session.value?.call ?? 'noetl-cp {}').replace('{}', () => words)
}

/** The program alone, for a command that says itself which instance it means. */
export function programOf(): string {
  return commandLine('{}').split(' {}')[0]!
}

/** For what others do not even see. */
export const isOperator = computed(() => session.value?.role === 'operator')

/** Why a control that acts on the installation cannot be used; undefined if it can. */
export const whyNotOperator = computed(() => whyNot('operator', 'Operators only'))

/** The same for what anybody may do who may write. */
export const whyNotWriter = computed(() => whyNot('writer', 'Writers and operators only'))

function whyNot(role: 'writer' | 'operator', who: string): string | undefined {
  const now = session.value
  if (now === undefined || now.role === 'operator' || now.role === role) return undefined
  return now.read_only ? 'The console is read-only here (NOETL_CP_CONSOLE)' : `${who}: log in with noetl-cp console`
}

/** Why somebody who meant to be logged in is not, and what to do; undefined when there is nothing to say. */
export const loginTrouble = signal<string | undefined>(undefined)

const AGAIN = 'Run "noetl-cp console" again, or log in with a token.'

export async function openSession(): Promise<void> {
  const { hash } = window.location
  if (hash.startsWith('#code=')) {
    // It works once; nobody copies it with a link.
    dropHash()
    await redeem(hash.slice('#code='.length))
  }
  await refreshSession()
}

async function redeem(code: string): Promise<void> {
  // A line that was broken on its way here.
  if (!/^[\w-]{1,100}$/.test(code)) {
    loginTrouble.value = `This link did not log you in: it is not whole. ${AGAIN}`
    return
  }
  try {
    await logIn({ code })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    loginTrouble.value =
      error.status === 0
        ? `This link did not log you in: the daemon did not answer. ${AGAIN}`
        : `This link did not log you in: ${error.message}.`
  }
}

/** A session ends by time, or with its token: a refusal is the first that the page hears of it. */
const ASK_EVERY_MS = 3_000
let askedAt = Number.NEGATIVE_INFINITY

effect(() => {
  const isNews = refusals.value > 0 && session.peek()?.by === 'session'
  if (!isNews || performance.now() - askedAt < ASK_EVERY_MS) return
  askedAt = performance.now()
  void refreshSession()
})

/** Nobody could say yet who is at the screen. */
let isUnknown = false

effect(() => {
  if (silentSince.value !== undefined || !isUnknown) return
  isUnknown = false
  void refreshSession()
})

/** The cookie is that of the browser: who logs in or out in one tab does so in all of them. */
const tabs = new BroadcastChannel('noetl.session')
tabs.onmessage = () => void refreshSession(true)

async function refreshSession(hasLoggedOut = false): Promise<void> {
  try {
    const before = session.peek()
    session.value = await get<Session>('/api/session')
    if (before?.by === 'session' && session.value.by !== 'session' && !hasLoggedOut) {
      loginTrouble.value = `Your session has ended. ${AGAIN}`
    }
  } catch (error) {
    // Without an answer nothing is known; the server decides anyway. It is asked again when the daemon answers somebody.
    if (!(error instanceof ApiError)) throw error
    isUnknown = session.peek() === undefined
  }
}

export async function logIn(how: { code: string } | { token: string; actor?: string }): Promise<void> {
  session.value = await send<Session>('POST', '/console/session', how)
  loginTrouble.value = undefined
  tabs.postMessage('changed')
}

export async function logOut(): Promise<void> {
  await send('DELETE', '/console/session')
  tabs.postMessage('changed')
  await refreshSession(true)
}
