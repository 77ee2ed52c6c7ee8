// Completion scripts of the shells. They know nothing by themselves: they ask `noetl-cp complete` what could stand in place of
// the last word, and leave files to the shell.

export const SHELLS = ['bash', 'zsh', 'fish'] as const

export function completionScript(shell: (typeof SHELLS)[number]): string {
  return { bash: BASH, zsh: ZSH, fish: FISH }[shell]
}

// An answer is a line that says what follows (words, or leave it to the shell's own completion of files), then one line per
// word: the word, a space, what it is.

const BASH = `_noetl_cp() {
  local line answer=()
  while IFS= read -r line; do answer+=("\${line%% *}"); done \\
    < <("$1" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ "\${answer[0]}" == words ]]; then compopt +o default 2>/dev/null; fi
  COMPREPLY=("\${answer[@]:1}")
}
complete -o default -F _noetl_cp noetl-cp`

const ZSH = `#compdef noetl-cp
_noetl_cp() {
  local -a answer described
  local line
  answer=("\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "\${answer[1]}" != words ]]; then _files; return; fi
  for line in "\${(@)answer[2,-1]}"; do
    described+=("\${\${line%% *}//:/\\\\:}:\${line#* }")
  done
  _describe -V noetl-cp described
}
if [[ "\${funcstack[1]}" == _noetl_cp ]]; then _noetl_cp "$@"; else compdef _noetl_cp noetl-cp; fi`

const FISH = `function __noetl_cp_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l answer ($words[1] complete -- $words[2..-1] 2>/dev/null)
  if test "$answer[1]" = words
    string replace ' ' \\t -- $answer[2..-1]
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c noetl-cp -f -a '(__noetl_cp_complete)'`
