/** Completion in zsh. */

import type { Completion, Option } from '../arguments.ts'
import type { Command } from '../command.ts'
import { firstArgument, GLOBAL_OPTIONS, optionsOf, quotedForShell } from './words.ts'

export function zshScript(commands: readonly Command[]): string {
  const described = commands.map(({ name, summary }) => `${name}:${summary.replaceAll(':', '\\:')}`)
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
      case $line[1] in
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

function branch(command: Command): string {
  const argument = firstArgument(command)
  const specs = optionsOf(command).map(option)
  if (argument !== null) specs.push(`1:${argument.name}:${action(argument.completes)}`)
  const lines = specs.map((spec) => `            ${quotedForShell(spec)}`)
  return [`        ${command.name})`, '          _arguments \\', lines.join(' \\\n'), '          ;;'].join(
    '\n',
  )
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
