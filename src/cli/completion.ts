/** `seatgate completion`: a script that completes commands, options and, where it is cheap, values. */

import { type Command, defineCommand } from './command.ts'
import { bashScript } from './completion/bash.ts'
import { fishScript } from './completion/fish.ts'
import { zshScript } from './completion/zsh.ts'

type Groups = Readonly<Record<string, string>>

const SCRIPTS: Readonly<Record<string, (commands: readonly Command[], groups: Groups) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** @param groups what each group of commands does */
export function completionOf(everyCommand: () => Promise<readonly Command[]>, groups: Groups): Command {
  return defineCommand({
    name: 'completion',
    summary: 'Prints a script that completes commands and options in a shell.',
    details:
      'For bash, add `source <(seatgate completion bash)` to the startup file of the shell; for zsh, add the same line with `zsh`. For fish, write the script to `~/.config/fish/completions/seatgate.fish`.',
    positionals: [{ name: 'SHELL', description: 'the shell', choices: Object.keys(SCRIPTS) }],
    options: {},
    exits: { 0: 'the script was printed', 1: 'it could not be printed' },
    example: 'source <(seatgate completion bash)',
    run: async ({ positionals: [shell = ''] }, terminal) => {
      await terminal.print(SCRIPTS[shell]?.(await everyCommand(), groups) ?? '')
    },
  })
}
