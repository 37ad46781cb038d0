/** Completion in zsh. */

import type { Completion, Option } from '../arguments.ts'
import type { Command, Description } from '../command.ts'
import {
  actionOf,
  firstArgument,
  firstWordsOf,
  GLOBAL_OPTIONS,
  groupsOf,
  optionsOf,
  quotedForShell,
} from './words.ts'

/** @param groups what each group of commands does */
export function zshScript(commands: readonly Command[], groups: Readonly<Record<string, string>>): string {
  const described = [...firstWordsOf(commands)].map(([name, [first]]) =>
    entry(name, first?.name === name ? first.summary : (groups[name] ?? '')),
  )
  const globals = Object.entries(GLOBAL_OPTIONS).map(([name, meaning]) => `--${name}[${meaning}]`)
  return `#compdef seatgate
# Completion of seatgate in zsh: source <(seatgate completion zsh)

_seatgate() {
  local curcontext=$curcontext state line
  local -a commands
  commands=(
    ${described.map(quotedForShell).join('\n    ')}
  )
  _arguments -C ${globals.map(quotedForShell).join(' ')} '1: :->command' '*:: :->arguments'
  case $state in
    command)
      _describe command commands
      ;;
    arguments)
      local command=$line[1]
      case $command in
${groupsOf(commands).map(groupBranch).join('\n')}
      esac
      case $command in
${commands.map(branch).join('\n')}
      esac
      ;;
  esac
}

# In a folder of fpath this file is the function itself; otherwise it is sourced.
if [[ \${funcstack[1]} == _seatgate ]]; then
  _seatgate "$@"
else
  compdef _seatgate seatgate
fi`
}

function entry(name: string, summary: string): string {
  return `${name}:${summary.replaceAll(':', '\\:')}`
}

/** `words` begins with the group: behind its action the command takes over. */
function groupBranch([group, actions]: [string, readonly Description[]]): string {
  const described = actions.map((each) => quotedForShell(entry(actionOf(each), each.summary)))
  return `        ${group})
          local -a actions
          actions=(${described.join(' ')})
          if (( CURRENT == 2 )); then
            _describe action actions
            return
          fi
          command="$command $words[2]"
          shift words
          (( CURRENT-- ))
          ;;`
}

function branch(command: Command): string {
  const argument = firstArgument(command)
  const specs = optionsOf(command).map(option)
  if (argument !== null) specs.push(`1:${argument.name}:${action(argument.completes)}`)
  const lines = specs.map((spec) => `            ${quotedForShell(spec)}`)
  const label = command.name.includes(' ') ? quotedForShell(command.name) : command.name
  return [`        ${label})`, '          _arguments \\', lines.join(' \\\n'), '          ;;'].join('\n')
}

function option([name, { description, value, multiple, completes }]: [string, Option]): string {
  const meaning = description.replaceAll(/[[\]\\:]/g, '\\$&')
  const argument = value === undefined ? '' : `:${value}:${completes === undefined ? ' ' : action(completes)}`
  return `${multiple ? '*' : ''}--${name}[${meaning}]${argument}`
}

function action(completes: Completion): string {
  if (completes === 'file') return '_files'
  return completes === 'folder' ? '_files -/' : `(${completes.join(' ')})`
}
