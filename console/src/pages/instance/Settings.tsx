// Every setting of the daemon with its origin, and the few that are the reader's own.
import { get } from '../../lib/api'
import { ask, query } from '../../lib/router'
import { density, theme, zone } from '../../lib/theme'
import { useResource } from '../../lib/useResource'
import { Panel } from '../../parts/Panel'

interface Setting {
  name: string
  env: string
  group: string
  value: string | null
  default: string | null
  source: string
  from: string
  is_secret: boolean
  help: string
}

const PATH = '/api/settings'

export function Settings() {
  const settings = useResource(PATH, (signal) => get<{ settings: Setting[] }>(PATH, signal))
  return (
    <div class="page">
      <h1>Settings</h1>
      <h2 class="section">This browser</h2>
      <div class="buttons">
        <Choice name="Theme" of={theme} options={['system', 'light', 'dark']} />
        <Choice name="Rows" of={density} options={['compact', 'comfortable']} />
        <Choice name="Times" of={zone} options={['local', 'utc']} />
      </div>
      <h2 class="section">This daemon</h2>
      <Panel resource={settings} lines={10}>
        {(data) => <Table settings={data.settings} />}
      </Panel>
    </div>
  )
}

interface ChoiceProps<T extends string> {
  name: string
  of: { value: T }
  options: readonly T[]
}

function Choice<T extends string>({ name, of, options }: ChoiceProps<T>) {
  return (
    <label>
      {name}{' '}
      <select
        value={of.value}
        onChange={(event) => {
          of.value = event.currentTarget.value as T
        }}
      >
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  )
}

/** The end of a name, and what is written for it. */
const UNITS = [
  ['Seconds', 's'],
  ['Ms', 'ms'],
  ['Mb', 'MB'],
] as const

function valueText({ name, value }: Setting): string {
  if (value === null) return '–'
  const unit = /^[\d.]+$/.test(value) ? UNITS.find(([end]) => name.endsWith(end))?.[1] : undefined
  return unit === undefined ? value : `${value} ${unit}`
}

function Table({ settings }: { settings: readonly Setting[] }) {
  const text = query.value.get('q') ?? ''
  const onlyChanged = query.value.get('changed') === 'yes'
  const shown = settings.filter(
    ({ name, env, help, source }) =>
      `${name} ${env} ${help}`.toLowerCase().includes(text.toLowerCase()) && (!onlyChanged || source !== 'default'),
  )
  return (
    <>
      <search class="filters">
        <input
          type="search"
          class="wide"
          aria-label="Search settings"
          placeholder="Name or meaning"
          value={text}
          onInput={(event) => ask({ q: event.currentTarget.value }, { replace: true })}
        />
        <button
          type="button"
          class="chip"
          aria-pressed={onlyChanged}
          onClick={() => ask({ changed: onlyChanged ? undefined : 'yes' })}
        >
          not the default
        </button>
        <span class="muted">
          {shown.length} of {settings.length}
        </span>
      </search>
      <div class="scroll">
        <table class="wide told">
          <thead>
            <tr>
              <th>Setting</th>
              <th>Value</th>
              <th>From</th>
              <th>Meaning</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((setting) => (
              <tr key={setting.env}>
                <td class="name">
                  <code class="whole">{setting.env}</code>
                </td>
                <td class={setting.source === 'default' ? 'muted' : ''}>{valueText(setting)}</td>
                <td class="name muted">{setting.from}</td>
                <td>{setting.help}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}
