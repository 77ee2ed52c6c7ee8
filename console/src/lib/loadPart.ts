// A part of the console that is loaded when it is needed. A browser remembers a failed import for as long as the page lives, so the
// import is only begun when the daemon answers: whoever was away can then be asked again.
import { get } from './api'

export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  await get('/api/session')
  return load()
}
