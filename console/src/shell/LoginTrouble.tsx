// Above whatever screen is open: why a login did not come about, or has ended, until it is read or another one comes about.
import { loginTrouble } from '../lib/session'

export function LoginTrouble() {
  if (loginTrouble.value === undefined) return null
  return (
    <p class="notice stale login-trouble" role="alert">
      {loginTrouble.value}
      <button
        type="button"
        onClick={() => {
          loginTrouble.value = undefined
        }}
      >
        Close
      </button>
    </p>
  )
}
