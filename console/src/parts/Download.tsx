// A link that saves an answer of the API as a file.
import { PREFIX } from '../lib/prefix'

export function Download({ path, name }: { path: string; name: string }) {
  return (
    <a class="button" href={PREFIX + path} download={name}>
      Download
    </a>
  )
}
