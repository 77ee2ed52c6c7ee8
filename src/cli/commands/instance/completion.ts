import { CpError } from '../../../errors.js'
import type { CommandSpec } from '../../command.js'
import { completionScript, SHELLS } from '../../completion/scripts.js'

export const completion: CommandSpec = {
  path: ['completion'],
  localBecause: 'it needs no instance',
  summary: 'Print a shell completion script',
  description:
    'Completes commands, options, their values, and the ids and paths that the running instance knows. What is left, such as files, the shell completes.',
  args: [{ name: 'shell', help: SHELLS.join(', '), completes: SHELLS }],
  examples: [
    ['completion bash > /etc/bash_completion.d/noetl-cp', 'for bash'],
    ['completion zsh > ~/.zfunc/_noetl-cp', 'for zsh'],
    ['completion fish > ~/.config/fish/completions/noetl-cp.fish', 'for fish'],
  ],
  run: async (_, { args }) => {
    const shell = SHELLS.find((name) => name === args['shell'])
    if (shell === undefined)
      throw new CpError('invalid_input', `no completion for ${args['shell']}; known are ${SHELLS.join(', ')}`)
    const text = completionScript(shell)
    return { json: { shell, script: text }, blocks: [{ kind: 'lines', lines: text.split('\n') }] }
  },
}
