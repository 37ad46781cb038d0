/** Completion in bash, from version 3.2 (that of macOS). */

import type { Completion, Option } from '../arguments.ts'
import type { Command } from '../command.ts'
import {
  actionOf,
  firstArgument,
  firstWordsOf,
  GLOBAL_OPTIONS,
  groupsOf,
  optionsOf,
  quotedForShell,
} from './words.ts'

export function bashScript(commands: readonly Command[]): string {
  const names = [...firstWordsOf(commands).keys()]
  const globals = Object.keys(GLOBAL_OPTIONS).map((name) => `--${name}`)
  return `# Completion of seatgate in bash: source <(seatgate completion bash)

_seatgate_words() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

_seatgate_paths() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$cur"))
}

_seatgate() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  # --name=value comes as three words.
  if [[ $cur == = ]]; then
    cur=''
  elif [[ $prev == = && $COMP_CWORD -ge 2 ]]; then
    prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  if (( COMP_CWORD == 1 )); then
    _seatgate_words ${quotedForShell([...names, ...globals].join(' '))}
    return
  fi
  # The command, and the position of its first argument.
  local command=\${COMP_WORDS[1]} first=2
  case $command in
${groupsOf(commands)
  .map(([group, actions]) => groupBranch(group, actions.map(actionOf)))
  .join('\n')}
  esac
  case $command in
    help)
      _seatgate_words ${quotedForShell(names.join(' '))}
      ;;
${commands.map(branch).join('\n')}
  esac
}

complete -F _seatgate seatgate`
}

function groupBranch(group: string, actions: readonly string[]): string {
  return `    ${group})
      if (( COMP_CWORD == 2 )); then
        _seatgate_words ${quotedForShell(actions.join(' '))}
        return
      fi
      command="$command \${COMP_WORDS[2]}" first=3
      ;;`
}

function branch(command: Command): string {
  const options = optionsOf(command)
  const argument = firstArgument(command)
  const lines = [`    ${command.name.includes(' ') ? quotedForShell(command.name) : command.name})`]
  const values = options.filter(([, each]) => each.value !== undefined).map(value)
  if (values.length > 0) lines.push('      case $prev in', ...values, '      esac')
  if (argument !== null)
    lines.push(
      '      if [[ $COMP_CWORD -eq $first && $cur != -* ]]; then',
      `        ${offer(argument.completes)}`,
      '        return',
      '      fi',
    )
  const names = options.map(([name]) => `--${name}`).join(' ')
  return [...lines, `      _seatgate_words ${quotedForShell(names)}`, '      ;;'].join('\n')
}

/** Nothing is offered for a value that only the user knows. */
function value([name, { completes }]: [string, Option]): string {
  return `        --${name}) ${completes === undefined ? '' : `${offer(completes)}; `}return ;;`
}

function offer(completes: Completion): string {
  if (completes === 'file') return '_seatgate_paths -f'
  if (completes === 'folder') return '_seatgate_paths -d'
  return `_seatgate_words ${quotedForShell(completes.join(' '))}`
}
