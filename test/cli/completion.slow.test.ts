/** The completion scripts in the shells that are installed. */

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bundled } from '../support/bundled.ts'
import { folderWith, MAIN } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const cwd = folderWith(t, {
  'bin/seatgate': `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`,
  'gateway.config.yaml': '',
  'gateway two.yaml': '',
  ...Object.fromEntries(
    await Promise.all(
      ['bash', 'zsh', 'fish'].map(async (shell) => [
        `completion.${shell}`,
        (await seatgateHere(folderWith(t, {}), ['completion', shell])).out,
      ]),
    ),
  ),
})
chmodSync(join(cwd, 'bin/seatgate'), 0o755)
mkdirSync(join(cwd, 'gates'))

/** As readline calls the function, for each line: its words, of which the last one is completed. Readline splits at `=`. */
const BASH = `source completion.bash
complete -p seatgate > /dev/null || exit 3
while IFS= read -r line; do
  mapfile -t -d ' ' COMP_WORDS <<< "seatgate \${line//=/ = } "
  unset 'COMP_WORDS[-1]'
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)) COMPREPLY=()
  _seatgate seatgate
  printf '%s,' "\${COMPREPLY[@]}"
  echo
done`

/** An interactive shell of its own, in which the tabulator key completes, and another key prints the line. */
const ZSH = `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= TERM=dumb; stty -echo; autoload -Uz compinit; compinit -u -D; source completion.zsh; show() { print -r -- \\"<\\$BUFFER>\\"; BUFFER=; zle reset-prompt }; zle -N show; bindkey '^T' show; setopt no_beep; print READY"
zpty -r shell out '*READY*'
while IFS= read -r line; do
  zpty -w -n shell "seatgate $line"$'\\t\\x14'
  zpty -r shell out '*<*>*'
  print -r -- "\${\${\${out%>*}##*<}#seatgate }"
done`

const FISH = `source completion.fish
while read -l line
  echo (complete -C "seatgate $line" | string replace -r '\\t.*' '' | string join ,)
end`

const LINES = [
  'compl',
  'seats cre',
  'check --form',
  'explain PU',
  'audit list --action seat.u',
  'check --format=s',
  'check --config gateway.',
  'check --config=gateway.',
  'init gat',
  'token --sub x',
]

const SHELLS = {
  bash: {
    args: ['-uc', BASH],
    expected: [
      'completion,',
      'create,',
      '--format,',
      'PUT,',
      'seat.update,',
      'sarif,',
      'gateway.config.yaml,',
      'gateway.config.yaml,',
      'gates,',
      ',',
    ],
  },
  zsh: {
    args: ['-fc', ZSH],
    expected: [
      'completion ',
      'seats create ',
      'check --format ',
      'explain PUT ',
      'audit list --action seat.update ',
      'check --format=sarif ',
      'check --config gateway.config.yaml ',
      'check --config=gateway.config.yaml ',
      'init gates/',
      'token --sub x',
    ],
  },
  fish: {
    args: ['--no-config', '-c', FISH],
    expected: [
      'completion',
      'create',
      '--format',
      'PUT',
      'seat.update',
      '--format=sarif',
      'gateway.config.yaml',
      '--config=gateway.config.yaml',
      'gates/',
      '',
    ],
  },
}

for (const [shell, { args, expected }] of Object.entries(SHELLS)) {
  const isInstalled = spawnSync(shell, ['-c', 'true']).status === 0
  t.test(shell, { skip: isInstalled ? false : `${shell} is not installed` }, async (t) => {
    const env = {
      ...process.env,
      ...bundled(),
      PATH: `${join(cwd, 'bin')}:${process.env['PATH']}`,
      HOME: cwd,
    }
    const input = `${LINES.join('\n')}\n`
    const out = execFileSync(shell, args, { cwd, env, input, encoding: 'utf8' })
    t.same(out.split('\n').slice(0, -1), expected)
  })
}

t.test(
  'bash keeps the space in a file name',
  { skip: spawnSync('bash', ['-c', 'true']).status !== 0 },
  (t) => {
    const env = { ...process.env, ...bundled(), PATH: `${join(cwd, 'bin')}:${process.env['PATH']}` }
    const input = 'check --config gateway\n'
    const out = execFileSync('bash', ['-uc', BASH], { cwd, env, input, encoding: 'utf8' })
    t.same(out.trim().split(',').toSorted(), ['', 'gateway two.yaml', 'gateway.config.yaml'])
    t.end()
  },
)

/** Stands for bash 3.2, which joins the words of a slice while IFS has no space: an exported IFS is in the environment. */
const IFS_OF_COMMAND = `export IFS
source completion.bash
show_ifs() { printf '<%s>' "$(printenv IFS)" >&3; }
COMP_WORDS=(show_ifs check --format) COMP_CWORD=2
_seatgate show_ifs 3>&1 || true`

t.test(
  'bash passes the words while IFS has a space',
  { skip: spawnSync('bash', ['-c', 'true']).status !== 0 },
  (t) => {
    const out = execFileSync('bash', ['-uc', IFS_OF_COMMAND], { cwd, encoding: 'utf8' })
    t.equal(out, '< \t>')
    t.end()
  },
)
