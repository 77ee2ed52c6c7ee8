// A check of a document, without registering it and without any server.

import { ownSourcesOf } from '../../../daemon/core.js'
import { parseCatalogDocument } from '../../../domain/catalog/catalogDocument.js'
import { documentProblems } from '../../../domain/catalog/documentProblems.js'
import { refuseDocument, type Violation } from '../../../domain/catalog/violation.js'
import type { Problem } from '../../../domain/playbook/plan.js'
import { ownSourceViolations } from '../../../domain/subscriptions/subscriptionSource.js'
import { toCpError } from '../../../errors.js'
import type { CommandSpec } from '../../command.js'
import { EXIT } from '../../exit.js'
import { textOption } from '../../options.js'
import { type Block, type Output, toned } from '../../output.js'
import { nameOf, readSource } from '../../source.js'
import { FILE_BYTES_MAX, fileArgument } from './catalog.js'

export const catalogValidate: CommandSpec = {
  path: ['catalog', 'validate'],
  showsAll: true,
  summary: 'Check a document without registering it',
  description:
    'Names everything that is wrong with a document, each with its place, and warns of parts that have no effect. Needs no server. Exit code 4 when it would be refused, at registration or when an execution is started; warnings alone are 0.',
  args: [fileArgument],
  options: [{ flags: '--kind <kind>', help: 'kind of a document that names none; default playbook' }],
  examples: [['catalog validate hello.yaml', 'all violations']],
  run: async (context, input) => {
    const content = await readSource(context, input.args['file']!, FILE_BYTES_MAX)
    const name = nameOf(input.args['file'])
    try {
      const document = parseCatalogDocument(content, { resourceType: textOption(input, 'kind') })
      const own = ownSourceViolations(document.subscription, ownSourcesOf(context.config().config))
      if (own.length > 0) throw refuseDocument('the catalog document', own)
      return verdict(name, documentProblems(document), document)
    } catch (thrown) {
      const error = toCpError(thrown)
      const violations = error.details['violations'] as Violation[] | undefined
      if (violations === undefined) throw error
      const problems = violations.map(({ path, message }) => ({ pointer: path, severity: 'error' as const, message }))
      return verdict(name, problems)
    }
  },
}

/** `document` is there when the text could be read as one. */
function verdict(name: string, problems: readonly Problem[], document?: { path: string; kind: string }): Output {
  const placed = (severity: Problem['severity']) =>
    problems
      .filter((problem) => problem.severity === severity)
      .map(({ pointer, message }) => ({ path: pointer, message }))
  const violations = placed('error')
  const warnings = placed('warning')
  const valid = document !== undefined && violations.length === 0
  const counts = [
    ...(violations.length === 0 ? [] : [`${violations.length} violation(s)`]),
    ...(warnings.length === 0 ? [] : [`${warnings.length} warning(s)`]),
  ]
  return {
    json: {
      valid,
      ...(document === undefined ? {} : { path: document.path, kind: document.kind }),
      problems: problems.map((problem) => ({ ...problem })),
      violations,
      warnings,
    },
    blocks: [
      ...(valid ? [{ kind: 'text' as const, text: `${name} is a valid ${document.kind}: ${document.path}` }] : []),
      ...(violations.length === 0 ? [] : [placeTable('what is wrong', violations)]),
      ...(warnings.length === 0 ? [] : [placeTable('warning', warnings, 'warn')]),
    ],
    notes: counts,
    ...(valid ? {} : { exitCode: EXIT.refused }),
  }
}

function placeTable(title: string, rows: readonly Violation[], tone?: 'warn'): Block {
  return {
    kind: 'table',
    columns: ['place', title],
    rows: rows.map(({ path, message }) => [
      path === '' ? 'the document' : path,
      tone === undefined ? message : toned(message, tone),
    ]),
  }
}
