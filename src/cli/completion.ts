/** `seatgate completion`: a script that completes command lines by asking `seatgate __complete`. */

import { defineCommand } from './command.ts'

/**
 * A script passes the words from `seatgate` up to the cursor to `seatgate __complete`, and offers the lines
 * that this prints. In place of `:file` and `:folder`, the shell offers paths.
 */
const SCRIPTS = {
  // Bash from version 3.2 (on macOS), which passes --name=value as three words.
  bash: `# Completion of seatgate in bash: source <(seatgate completion bash)

_seatgate() {
  local cur=\${COMP_WORDS[COMP_CWORD]} candidates
  candidates=$("$1" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)
  # Bash 3.2 passes a slice as one word while IFS has no space.
  local IFS=$'\\n'
  [[ $cur != = ]] || cur=''
  case $candidates in
    :file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
    :folder) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "$candidates" -- "$cur")) ;;
  esac
}

complete -F _seatgate seatgate`,
  zsh: `#compdef seatgate
# Completion of seatgate in zsh: source <(seatgate completion zsh)

_seatgate() {
  local tab=$'\\t'
  local -a candidates
  candidates=("\${(@f)$($words[1] __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ $PREFIX != --*=* ]] || compset -P '*='
  case $candidates[1] in
    :file) _files ;;
    :folder) _files -/ ;;
    ?*) candidates=("\${(@)candidates/$tab/:}"); _describe seatgate candidates ;;
  esac
}

# In a folder of fpath this file is the function itself; otherwise it is sourced.
if [[ \${funcstack[1]} == _seatgate ]]; then
  _seatgate "$@"
else
  compdef _seatgate seatgate
fi`,
  fish: `# Completion of seatgate in fish: seatgate completion fish > ~/.config/fish/completions/seatgate.fish

function __seatgate_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l option (string match -r -- '^--[^=]*=' "$word")
    set -l value (string replace -- "$option" '' "$word")
    set -l candidates ($words[1] __complete $words[2..] "$word" 2>/dev/null)
    switch "$candidates[1]"
        case :file
            set candidates (__fish_complete_path "$value")
        case :folder
            set candidates (__fish_complete_directories "$value")
    end
    for candidate in $candidates
        echo "$option$candidate"
    end
end

complete -c seatgate -f -a '(__seatgate_complete)'`,
} as const

export const completion = defineCommand({
  name: 'completion',
  summary: 'Prints a script that completes commands and options in a shell.',
  details:
    'For bash, add `source <(seatgate completion bash)` to the startup file of the shell; for zsh, add the same line with `zsh`. For fish, write the script to `~/.config/fish/completions/seatgate.fish`.',
  positionals: [{ name: 'SHELL', description: 'the shell', choices: Object.keys(SCRIPTS) }],
  options: {},
  exits: { 0: 'the script was printed', 1: 'it could not be printed' },
  example: 'source <(seatgate completion bash)',
  run: ({ positionals: [shell = ''] }, terminal) => terminal.print(SCRIPTS[shell as keyof typeof SCRIPTS]),
})
