// Starts the console in its page.
import { render } from 'preact'
import { openSession } from './lib/session'
import { followStream } from './lib/stream'
import { applyTheme } from './lib/theme'
import { App } from './shell/App'
import './styles/tokens.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/parts.css'
import './styles/lists.css'
import './styles/details.css'
import './styles/json.css'
import './styles/sections.css'
import './styles/subscriptions.css'
import './styles/overview.css'
import './styles/narrow.css'
import './styles/catalog.css'
import './styles/graph.css'
import './styles/forced.css'

applyTheme()
followStream()
void openSession()
render(<App />, document.getElementById('root')!)
