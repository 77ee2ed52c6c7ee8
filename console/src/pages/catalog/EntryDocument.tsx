// The document of one entry, for pages about what it made.
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'
import { DocumentTab } from './DocumentTab'
import { loadEntry } from './entry'

export function EntryDocument({ catalogId }: { catalogId: string }) {
  const entry = useResource(`entry ${catalogId}`, (signal) => loadEntry({ catalog_id: catalogId }, signal))
  return <Panel resource={entry}>{(found) => <DocumentTab entry={found} />}</Panel>
}
