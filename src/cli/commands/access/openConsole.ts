import { spawn } from 'node:child_process'
import { CpError, messageOf } from '../../../errors.js'
import { createApiClient } from '../../apiClient.js'
import type { CommandContext, CommandSpec } from '../../command.js'
import { userName } from '../../userName.js'

export const consoleCommand: CommandSpec = {
  path: ['console'],
  summary: 'Open the web console, logged in',
  description:
    'Asks the running daemon for a one-time code and opens its console with it. The code works once, within a minute. Without a display the address is only printed.',
  options: [{ flags: '--print', help: 'print the address and open nothing' }],
  examples: [
    ['console', 'open it in the browser'],
    ['console --print', 'for a browser elsewhere'],
  ],
  // The code is what is asked for.
  showsAll: true,
  run: async (context, input) => {
    const { httpUrl, endpoints } = await context.instance()
    const token = context.config().config.remoteToken ?? endpoints.internalTokens[0]
    if (token === undefined) {
      throw new CpError(
        'forbidden',
        `a code needs the internal token (NOETL_INTERNAL_API_TOKEN); without it open ${consoleOf(httpUrl)} and log in with a token`,
      )
    }
    const answer = await createApiClient(httpUrl, token).post('/api/internal/console/code', { actor: userName() })
    const url = `${consoleOf(httpUrl)}#code=${answer['code']}`
    const opener = input.options['print'] === true ? undefined : openerOf(context)
    const trouble = opener === undefined ? undefined : await open(opener, url)
    return {
      json: { url, expires_in_seconds: Number(answer['expires_in_seconds']), opened: opener !== undefined && !trouble },
      blocks: [{ kind: 'lines', lines: [url] }],
      notes: [
        ...(trouble === undefined ? [] : [`it could not be opened here: ${trouble}`]),
        `works once, within ${answer['expires_in_seconds']} s`,
      ],
    }
  },
}

function consoleOf(httpUrl: string): string {
  return new URL('/console/', httpUrl).href
}

/** The program that opens addresses; undefined where there is no display to open them on. */
function openerOf({ env }: CommandContext): string | undefined {
  if (process.platform === 'darwin') return 'open'
  const hasDisplay = [env['DISPLAY'], env['WAYLAND_DISPLAY']].some((value) => value !== undefined && value !== '')
  return hasDisplay ? 'xdg-open' : undefined
}

/** Answers what went wrong; the browser goes on without us. */
function open(program: string, url: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, [url], { stdio: 'ignore', detached: true })
    child.once('error', (error) => resolve(messageOf(error)))
    child.once('spawn', () => {
      child.unref()
      resolve(undefined)
    })
  })
}
