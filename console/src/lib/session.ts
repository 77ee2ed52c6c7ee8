// Who is at the screen. A one-time code in the address, or a token that is pasted once, becomes a cookie that no script can
// read; nothing of it is kept here.
import { computed, effect, signal } from '@preact/signals'
import { ApiError, get, refusals, send } from './api'

export interface Session {
  role: 'none' | 'viewer' | 'writer' | 'operator'
  actor: string
  by: 'token' | 'session' | 'nothing'
  expires_at: string | null
  read_only: boolean
  /** Of the instance. */
  mode: string
}

export const session = signal<Session | undefined>(undefined)

/** For what others do not even see. */
export const isOperator = computed(() => session.value?.role === 'operator')

/** Why a control that acts on the installation cannot be used; undefined if it can. */
export const whyNotOperator = computed(() => {
  const now = session.value
  if (now === undefined || now.role === 'operator') return undefined
  return now.read_only
    ? 'The console is read-only here (NOETL_CP_CONSOLE)'
    : 'Operators only: log in with noetl-cp console'
})

/** The same for what anybody may do who may write. */
export const whyNotWriter = computed(() => (session.value?.role === 'writer' ? undefined : whyNotOperator.value))

export async function openSession(): Promise<void> {
  const code = /^#code=([\w-]{1,100})$/.exec(window.location.hash)?.[1]
  if (code !== undefined) {
    // It works once; out of the address and the history it goes at once.
    window.history.replaceState(null, '', window.location.pathname + window.location.search)
    await logIn({ code }).catch(() => undefined)
  }
  await refreshSession()
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

async function refreshSession(): Promise<void> {
  try {
    session.value = await get<Session>('/api/session')
  } catch (error) {
    // Without an answer nothing is known; the server decides anyway.
    if (!(error instanceof ApiError)) throw error
  }
}

export async function logIn(how: { code: string } | { token: string; actor?: string }): Promise<void> {
  session.value = await send<Session>('POST', '/console/session', how)
}

export async function logOut(): Promise<void> {
  await send('DELETE', '/console/session')
  await refreshSession()
}
