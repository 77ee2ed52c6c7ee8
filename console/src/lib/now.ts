// The present second, for everything that counts on the screen: one timer for all of them.
import { signal } from '@preact/signals'

export const now = signal(Date.now())

setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 1_000)
