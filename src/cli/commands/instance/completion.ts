import { CpError } from '../../../errors.js'
import type { CommandSpec } from '../../command.js'
import { completionScript, SHELLS } from '../../completionScript.js'

/** `commands` is the list that this command is itself part of. */
export const completionOf = (commands: () => Promise<readonly CommandSpec[]>): CommandSpec => ({
  path: ['completion'],
  summary: 'Print a shell completion script',
  args: [{ name: 'shell', help: SHELLS.join(', ') }],
  examples: [
    ['completion bash > /etc/bash_completion.d/noetl-cp', 'for bash'],
    ['completion zsh > ~/.zfunc/_noetl-cp', 'for zsh'],
    ['completion fish > ~/.config/fish/completions/noetl-cp.fish', 'for fish'],
  ],
  run: async (_, { args }) => {
    const shell = SHELLS.find((name) => name === args['shell'])
    if (shell === undefined)
      throw new CpError('invalid_input', `no completion for ${args['shell']}; known are ${SHELLS.join(', ')}`)
    const text = completionScript(shell, await commands())
    return { json: { shell, script: text }, blocks: [{ kind: 'lines', lines: text.split('\n') }] }
  },
})
