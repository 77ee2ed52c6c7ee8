// Who is at the screen: role and name, the way in and the way out.
import { useSignal } from '@preact/signals'
import { ApiError } from '../lib/api'
import { logIn, logOut, session } from '../lib/session'
import { CopyText } from '../parts/CopyText'
import { Dialog } from '../parts/Dialog'
import { Until } from '../parts/Time'

export function Who() {
  const isOpen = useSignal(false)
  const me = session.value
  if (me === undefined) return null
  const word = me.read_only ? 'read-only' : me.by === 'nothing' ? 'log in' : me.role
  return (
    <>
      <button
        type="button"
        class="quiet"
        title={`${me.role} ${me.actor}`}
        onClick={() => {
          isOpen.value = true
        }}
      >
        {word}
      </button>
      {isOpen.value && (
        <WhoDialog
          onClose={() => {
            isOpen.value = false
          }}
        />
      )}
    </>
  )
}

function WhoDialog({ onClose }: { onClose: () => void }) {
  const refusal = useSignal<string | undefined>(undefined)
  const me = session.value!
  const isIn = me.by === 'session'
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    try {
      await act()
      onClose()
    } catch (error) {
      refusal.value = error instanceof ApiError ? error.message : String(error)
    }
  }
  return (
    <Dialog title={isIn ? `${me.actor}, ${me.role}` : 'Log in'} onClose={onClose}>
      {isIn ? (
        <p>
          This browser is logged in until{' '}
          {me.expires_at === null ? 'the token is changed' : <Until at={me.expires_at} />}.
        </p>
      ) : (
        <p>
          On the machine of the daemon, <CopyText text="noetl-cp console" /> opens this page logged in. Elsewhere paste
          a token; it is exchanged for a session and not kept.
        </p>
      )}
      <form
        class="login"
        onSubmit={(event) => {
          event.preventDefault()
          const token = String(new FormData(event.currentTarget).get('token') ?? '').trim()
          void attempt(() => (isIn ? logOut() : logIn({ token })))
        }}
      >
        {!isIn && (
          <input name="token" type="password" autocomplete="off" aria-label="Token" placeholder="Token" required />
        )}
        <button type="submit" class="primary">
          {isIn ? 'Log out' : 'Log in'}
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </form>
      {refusal.value !== undefined && (
        <p class="notice stale" role="alert">
          {refusal.value}
        </p>
      )}
    </Dialog>
  )
}
