// One entry of the catalog: its document with what is wrong with it, a form that runs it, and its versions.
import { isReadOnly } from '../../lib/readOnly'
import { hrefOf } from '../../lib/router'
import { useResource } from '../../lib/useResource'
import { CopyText } from '../../parts/CopyText'
import { Fact } from '../../parts/Fact'
import { Panel } from '../../parts/Panel'
import { chosenTab, type Tab, Tabs } from '../../parts/Tabs'
import { Ago } from '../../parts/Time'
import { EntryGraph } from '../graph/EntryGraph'
import { DocumentTab } from './DocumentTab'
import { EditTab } from './EditTab'
import { type Entry, type EntryHead, type EntryList, entryHref, loadEntry, loadVersions } from './entry'
import { MadeOf, RegisterSubscription, useMade } from './OwnSubscription'
import { Removal } from './Removal'
import { RunTab } from './RunTab'
import { UsedByTab } from './UsedByTab'
import { VersionsTab } from './VersionsTab'

const DOCUMENT: Tab = { id: 'document', name: 'Document' }
const RUN: Tab = { id: 'run', name: 'Run' }
const GRAPH: Tab = { id: 'graph', name: 'Graph' }
const VERSIONS: Tab = { id: 'versions', name: 'Versions' }
const USED_BY: Tab = { id: 'used-by', name: 'Used by' }
const EDIT: Tab = { id: 'edit', name: 'New version' }

/** Kinds that an execution can be started of. */
const RUNNABLE = ['playbook', 'agent']

export function EntryPage({ path, version = 'latest' }: { path: string; version: string | undefined }) {
  const one = useResource(`${path}@${version}`, (signal) => loadEntry({ path, version }, signal))
  const versions = useResource(`versions of ${path}`, (signal) => loadVersions(path, signal))
  const every = RUNNABLE.includes(one.data?.kind ?? '')
    ? [DOCUMENT, RUN, GRAPH, VERSIONS, USED_BY, EDIT]
    : [DOCUMENT, VERSIONS, EDIT]
  const tabs = isReadOnly.value ? every.filter((tab) => tab !== RUN && tab !== EDIT) : every
  const reload = (): void => {
    one.reload()
    versions.reload()
  }
  return (
    <div class="page">
      <a href={hrefOf('/catalog')}>‹ Catalog</a>
      <Panel resource={one} lines={8}>
        {(entry) => {
          const about = { entry, versions: versions.data ?? { entries: [entry], hasMore: false }, reload }
          return (
            <>
              <Head {...about} />
              {versions.error !== undefined && (
                <p class="notice stale">Its other versions are not known: {versions.error.message}</p>
              )}
              <Tabs tabs={tabs} label="About this entry" />
              <Chosen {...about} tab={chosenTab(tabs)} />
            </>
          )
        }}
      </Panel>
    </div>
  )
}

interface ChosenProps {
  entry: Entry
  versions: EntryList<EntryHead>
  tab: string
  reload: () => void
}

function Chosen({ entry, versions, tab, reload }: ChosenProps) {
  switch (tab) {
    case 'run':
      return <RunTab key={entry.catalog_id} entry={entry} />
    case 'graph':
      return <EntryGraph key={entry.catalog_id} layout={entry.layout} />
    case 'versions':
      return <VersionsTab entry={entry} versions={versions} />
    case 'used-by':
      return <UsedByTab key={entry.path} path={entry.path} />
    case 'edit':
      return <EditTab key={entry.catalog_id} entry={entry} onRegistered={reload} />
    default:
      return <DocumentTab key={entry.catalog_id} entry={entry} />
  }
}

function Head({ entry, versions, reload }: Omit<ChosenProps, 'tab'>) {
  // An archived one counts no more: the address without a version does not lead to it.
  const newest = Math.max(
    ...versions.entries.flatMap(({ version, archived_at }) => (archived_at === null ? [version] : [])),
  )
  const isSource = entry.kind === 'subscription'
  const made = useMade(isSource ? entry.path : null)
  return (
    <>
      <div class="run-title">
        <h1>
          <bdi>{entry.path}</bdi>
          <span class="muted">@{entry.version}</span>
        </h1>
        {entry.version < newest && (
          <a class="button" href={entryHref(entry.path)}>
            Newest is @{newest}
          </a>
        )}
        <span class="buttons">
          {isSource && made.at !== undefined && entry.archived_at === null && entry.version === newest && (
            <RegisterSubscription entry={entry} made={made.data} />
          )}
          <Removal entry={entry} versions={versions} reload={reload} />
        </span>
      </div>
      <dl class="facts">
        <Fact name="Kind">{entry.kind}</Fact>
        <Fact name="Catalog id">
          <CopyText text={entry.catalog_id} />
        </Fact>
        <Fact name="Registered">
          <Ago at={entry.created_at} />
        </Fact>
        {entry.archived_at !== null && (
          <Fact name="Archived">
            <Ago at={entry.archived_at} />
          </Fact>
        )}
        {isSource && made.at !== undefined && (
          <div>
            <dt>Subscription</dt>
            <dd>
              <span>
                <MadeOf made={made.data} />
              </span>
            </dd>
          </div>
        )}
        {RUNNABLE.includes(entry.kind) && (
          <Fact name="Executions">
            <span>
              <a href={hrefOf('/executions', { path: entry.path })}>of all versions</a>,{' '}
              <a href={hrefOf('/executions', { catalog_id: entry.catalog_id })}>of @{entry.version}</a>
            </span>
          </Fact>
        )}
      </dl>
    </>
  )
}
