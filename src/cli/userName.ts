// Whoever sits at the terminal, as it stands beside what is done.
import { userInfo } from 'node:os'

export function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run as a number without a name.
    return `uid:${process.getuid?.()}`
  }
}
