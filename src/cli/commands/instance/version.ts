import { VERSION } from '../../../version.js'
import type { CommandSpec } from '../../command.js'

export const version: CommandSpec = {
  path: ['version'],
  localBecause: 'it tells the version of this program; "status --url" asks the daemon',
  summary: 'Print the version',
  examples: [['version --json', 'with the versions of Node and of the platform']],
  run: async () => ({
    json: { version: VERSION, node: process.versions.node, platform: `${process.platform}-${process.arch}` },
    blocks: [
      {
        kind: 'text',
        text: `noetl-cp ${VERSION} (node ${process.versions.node}, ${process.platform}-${process.arch})`,
      },
    ],
  }),
}
