// The keys, over whatever is shown; the rest of the help is a page.
import { hrefOf } from '../lib/router'
import { Dialog } from '../parts/Dialog'
import { KeyTable } from './KeyTable'

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" isText onClose={onClose}>
      <KeyTable />
      <form method="dialog">
        <button type="submit">Close</button>
        <a href={hrefOf('/help')} onClick={onClose}>
          Versions and the API
        </a>
      </form>
    </Dialog>
  )
}
