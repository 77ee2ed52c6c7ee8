// Static completion scripts, made from the list of subcommands: words by position, then options.
import type { CommandSpec } from './command.js'

export const SHELLS = ['bash', 'zsh', 'fish'] as const

export function completionScript(shell: (typeof SHELLS)[number], specs: readonly CommandSpec[]): string {
  const words = wordsByPrefix(specs)
  if (shell === 'fish') return fish(words, specs)
  const body = bashFunction(words)
  if (shell === 'bash') return `${body}\ncomplete -F _noetl_cp noetl-cp`
  return `#compdef noetl-cp\nautoload -U +X bashcompinit && bashcompinit\n${body}\ncomplete -F _noetl_cp noetl-cp`
}

/** '' → first words, 'outbox' → its subcommands, 'outbox drain' → options. */
function wordsByPrefix(specs: readonly CommandSpec[]): Map<string, Set<string>> {
  const words = new Map<string, Set<string>>()
  const add = (prefix: string, word: string) => {
    const known = words.get(prefix) ?? new Set()
    words.set(prefix, known.add(word))
  }
  for (const spec of specs) {
    for (let depth = 0; depth < spec.path.length; depth++) add(spec.path.slice(0, depth).join(' '), spec.path[depth]!)
    const own = (spec.options ?? [])
      .map((option) => /--[\w-]+/.exec(option.flags)?.[0])
      .filter((name) => name !== undefined)
    for (const option of [...own, '--json', '--help']) add(spec.path.join(' '), option)
  }
  return words
}

function bashFunction(words: Map<string, Set<string>>): string {
  const cases = [...words].map(([prefix, set]) => `    '${prefix}') words='${[...set].join(' ')}' ;;`)
  return `_noetl_cp() {
  local current="\${COMP_WORDS[COMP_CWORD]}" prefix='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) prefix="\${prefix:+$prefix }$word" ;; esac
  done
  while :; do
    case "$prefix" in
${cases.map((line) => `  ${line}`).join('\n')}
      *) if [[ "$prefix" == *' '* ]]; then prefix="\${prefix% *}"; continue; fi ;;
    esac
    break
  done
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}`
}

function fish(words: Map<string, Set<string>>, specs: readonly CommandSpec[]): string {
  const lines = ['complete -c noetl-cp -f']
  for (const [prefix, set] of words) {
    const condition = prefix === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${prefix.split(' ').pop()}`
    for (const word of set) {
      const flag = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
      const spec = specs.find((candidate) => candidate.path.join(' ') === `${prefix} ${word}`.trim())
      const help = spec === undefined ? '' : ` -d '${spec.summary.replaceAll("'", '')}'`
      lines.push(`complete -c noetl-cp -n '${condition}' ${flag}${help}`)
    }
  }
  return lines.join('\n')
}
