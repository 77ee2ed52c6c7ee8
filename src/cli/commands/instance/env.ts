// `env`: what psql and the nats tool need to reach the servers of the instance, as lines for a shell.
import type { CommandSpec } from '../../command.js'

export const env: CommandSpec = {
  path: ['env'],
  localBecause: 'it prints how to reach the servers themselves',
  // Without the password the lines are of no use.
  showsAll: true,
  summary: 'Print what psql and the nats tool need to reach the servers',
  description:
    'Prints variables for a shell, passwords included: PGHOST and the like for psql, NATS_URL and the like for the nats tool. With several databases they are those of the first.',
  examples: [
    ['env', 'look at them'],
    ['env --json', 'for programs'],
  ],
  run: async (context) => {
    const { endpoints, httpUrl } = await context.instance()
    const { database, nats } = endpoints
    const variables = Object.entries({
      PGHOST: database.host,
      PGPORT: String(database.port),
      PGUSER: database.user,
      PGPASSWORD: database.password,
      PGDATABASE: database.database,
      PGSSLMODE: database.sslMode,
      NATS_URL: nats?.url,
      NATS_USER: nats?.user,
      NATS_PASSWORD: nats?.password,
      NATS_TOKEN: nats?.token,
      NATS_CREDS: nats?.credentialsPath,
      NOETL_CP_URL: httpUrl,
    }).flatMap(([name, value]): [string, string][] => (value === undefined || value === '' ? [] : [[name, value]]))
    return {
      json: Object.fromEntries(variables),
      blocks: [{ kind: 'lines', lines: variables.map(([name, value]) => `export ${name}=${quoted(value)}`) }],
      notes: ['for this shell: eval "$(noetl-cp env --quiet)"'],
    }
  },
}

function quoted(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`
}
