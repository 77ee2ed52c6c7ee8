// A command of ours to copy, as it is called where the daemon runs.
import { commandLine } from '../lib/session'
import { CopyText } from './CopyText'

export function Command({ words }: { words: string }) {
  return <CopyText text={commandLine(words)} />
}
