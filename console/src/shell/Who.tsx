// Who is at the screen: role and name, the way in and the way out.
import { useSignal } from '@preact/signals'
import { logIn, logOut, session } from '../lib/session'
import { useAttempt } from '../lib/useAttempt'
import { Command } from '../parts/Command'
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
  const { isBusy, refusal, run } = useAttempt()
  const me = session.value!
  const isIn = me.by === 'session'
  return (
    <Dialog title={isIn ? `${me.actor}, ${me.role}` : 'Log in'} isText={isIn} onClose={onClose}>
      {isIn ? (
        <p>
          This browser is logged in until{' '}
          {me.expires_at === null ? 'the token is changed' : <Until at={me.expires_at} />}.
        </p>
      ) : (
        <p>
          On the machine of the daemon, <Command words="console" /> opens this page logged in. Elsewhere paste a token;
          it is exchanged for a session and not kept. What you do is on record under your name beside the first digits
          of the token's hash, so that several may share one.
        </p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const form = new FormData(event.currentTarget)
          const textOf = (name: string): string => String(form.get(name) ?? '').trim()
          const actor = textOf('actor')
          const how = { token: textOf('token'), ...(actor === '' ? {} : { actor }) }
          void run(async () => {
            await (isIn ? logOut() : logIn(how))
            onClose()
          })
        }}
      >
        {!isIn && (
          <>
            <label class="field">
              Token
              <input name="token" type="password" autocomplete="off" autofocus required />
            </label>
            <label class="field">
              Your name, for the record (optional)
              <input name="actor" type="text" maxLength={64} autocomplete="name" />
            </label>
          </>
        )}
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Close
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            {isIn ? 'Log out' : 'Log in'}
          </button>
        </div>
      </form>
      {refusal !== undefined && (
        <p class="notice stale" role="alert">
          {refusal}
        </p>
      )}
    </Dialog>
  )
}
