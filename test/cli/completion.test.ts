/** The completion scripts, in the shells themselves. */

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { actionsOf, everyCommand, firstWords } from '../../src/cli/commands.ts'
import { folderWith } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const every = await everyCommand()
const script = async (shell: string) => (await seatgateHere(folderWith(t, {}), ['completion', shell])).out

function missing(shell: string): string | false {
  return spawnSync(shell, ['-c', 'true']).status === 0 ? false : `${shell} is not installed`
}

/** As readline calls the function, for each line: the words of the line, of which the last one is completed. */
const DRIVER = `source completion.bash
complete -p seatgate > /dev/null || exit 3
while IFS= read -r line; do
  mapfile -t -d '|' COMP_WORDS <<< "seatgate|$line|"
  unset 'COMP_WORDS[-1]'
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)) COMPREPLY=()
  _seatgate
  [[ \${#COMPREPLY[@]} -eq 0 ]] || printf '%s\\n' "\${COMPREPLY[@]}"
  echo .
done`

/** What the script of bash offers for each line of words. */
function offeredFor(cwd: string, lines: readonly (readonly string[])[]): string[][] {
  const input = lines.map((words) => `${words.join('|')}\n`).join('')
  const out = execFileSync('bash', ['-uc', DRIVER], { cwd, input, encoding: 'utf8' })
  const offers = out.split('.\n').map((lines) => lines.split('\n').filter((line) => line !== ''))
  if (offers.length !== lines.length + 1) throw new Error(`${offers.length - 1} answers: ${out}`)
  return offers.slice(0, -1)
}

t.test('bash', { skip: missing('bash') }, async (t) => {
  const cwd = folderWith(t, {
    'completion.bash': await script('bash'),
    'gateway.config.yaml': '',
    'gateway two.yaml': '',
  })
  mkdirSync(join(cwd, 'gates'))
  const files = ['gates', 'gateway two.yaml', 'gateway.config.yaml']
  const cases: [words: string[], offered: string[], what?: string][] = [
    [[''], [...firstWords(), '--help', '--version']],
    [['audit', ''], actionsOf('audit')],
    [['seats', 'c'], ['create']],
    [['ex'], ['explain']],
    [['--v'], ['--version']],
    [['help', 'ch'], ['check']],
    [['nonsense', ''], []],
    [['check', '--config', 'gate'], files, 'files'],
    [['check', '--config', '=', 'gate'], files, 'bash splits at ='],
    [['init', 'gate'], ['gates'], 'folders'],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [
      ['explain', 'P'],
      ['POST', 'PUT', 'PATCH'],
    ],
    [['token', '--sub', ''], [], 'nothing is known of it'],
  ]
  for (const { name, options } of every) {
    const all = [...Object.keys(options), 'help'].map((option) => `--${option}`)
    for (const more of [[], ['x']]) cases.push([[...name.split(' '), ...more, '--'], all, name])
  }
  const offers = offeredFor(
    cwd,
    cases.map(([words]) => words),
  )
  for (const [at, [words, offered, what = words.join(' ')]] of cases.entries())
    t.same(offered === files ? offers[at]?.sort() : offers[at], offered, what)
  t.ok(offeredFor(cwd, [['check', '--config', '=']])[0]?.includes('gateway.config.yaml'))
})

for (const [shell, check] of [
  ['zsh', '-n'],
  ['fish', '--no-execute'],
] as const)
  t.test(shell, { skip: missing(shell) }, async (t) => {
    const cwd = folderWith(t, { script: await script(shell) })
    t.equal(spawnSync(shell, [check, 'script'], { cwd }).status, 0)
  })

t.test('every script has each command and option', async (t) => {
  for (const shell of ['zsh', 'fish']) {
    const text = await script(shell)
    for (const { name, options } of every) {
      const [first = '', action = first] = name.split(' ')
      t.ok(text.includes(shell === 'fish' ? `-a ${action} ` : `${action}:`), `${shell}: ${name}`)
      for (const option of Object.keys(options)) {
        const line = shell === 'fish' ? `seen_subcommand_from ${action}' -l ${option} ` : `--${option}[`
        t.ok(text.includes(line), `${shell}: ${name} ${option}`)
      }
    }
  }
})

t.test('another shell is bad usage', async (t) => {
  const cwd = folderWith(t, {})
  t.match(await seatgateHere(cwd, ['completion', 'bush']), {
    code: 2,
    out: '',
    err: /^seatgate completion: SHELL "bush" is not bash, zsh or fish \(did you mean "bash"\?\)\nusage: /,
  })
  t.match(await seatgateHere(cwd, ['completion']), { code: 2, out: '', err: /SHELL is missing/ })
})
