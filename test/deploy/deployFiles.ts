// Reads what lies under deploy/, and says of a PromQL expression what it asks for.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parser } from '@prometheus-io/lezer-promql'
import { parseAllDocuments, parse as parseYaml } from 'yaml'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export function readText(path: string): string {
  return readFileSync(`${ROOT}/${path}`, 'utf8')
}

export function readYaml(path: string): any {
  return parseYaml(readText(path), { merge: true })
}

export interface Manifest {
  file: string
  apiVersion: string
  kind: string
  metadata: { name: string }
  [key: string]: any
}

/** Every document of every YAML file in a folder, with merge keys and anchors resolved. */
export function readManifests(folder: string): Manifest[] {
  return readdirSync(`${ROOT}/${folder}`)
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((name) =>
      parseAllDocuments(readText(`${folder}/${name}`)).map((document) => {
        if (document.errors.length > 0) throw document.errors[0]!
        return { file: name, ...document.toJS() }
      }),
    )
}

export interface Asked {
  /** Where the parser stumbled; empty when it is PromQL. */
  errors: string[]
  metrics: string[]
  labels: string[]
}

export function askedBy(expression: string): Asked {
  const asked: Asked = { errors: [], metrics: [], labels: [] }
  // What Grafana fills in before it asks.
  const text = expression.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'noetl-cp')
  parser.parse(text).iterate({
    enter: (node) => {
      const word = text.slice(node.from, node.to)
      if (node.type.isError) asked.errors.push(`at ${node.from}: ${text.slice(node.from, node.from + 30)}`)
      else if (node.name === 'Identifier') asked.metrics.push(word)
      else if (node.name === 'LabelName') asked.labels.push(word)
    },
  })
  return asked
}
