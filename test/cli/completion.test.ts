/** The completion scripts, in the shells themselves. */

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { actionsOf, everyCommand, firstWords } from '../../src/cli/commands.ts'
import { folderWith, seatgate } from './command-line.ts'

const every = await everyCommand()
const script = async (shell: string) => (await seatgate(folderWith(t, {}), ['completion', shell])).out

function missing(shell: string): string | false {
  return spawnSync(shell, ['-c', 'true']).status === 0 ? false : `${shell} is not installed`
}

/** As readline calls the function: the words of the line, of which the last one is completed. */
const DRIVER = `source completion.bash
complete -p seatgate > /dev/null || exit 3
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_seatgate
[[ \${#COMPREPLY[@]} -eq 0 ]] || printf '%s\\n' "\${COMPREPLY[@]}"`

t.test('bash', { skip: missing('bash') }, async (t) => {
  const cwd = folderWith(t, {
    'completion.bash': await script('bash'),
    'gateway.config.yaml': '',
    'gateway two.yaml': '',
  })
  mkdirSync(join(cwd, 'gates'))
  const offered = (...words: string[]) =>
    execFileSync('bash', ['-uc', DRIVER, 'bash', 'seatgate', ...words], { cwd, encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '')

  t.same(offered(''), [...firstWords(), '--help', '--version'])
  t.same(offered('audit', ''), actionsOf('audit'))
  t.same(offered('seats', 'c'), ['create'])
  t.same(offered('ex'), ['explain'])
  t.same(offered('--v'), ['--version'])
  t.same(offered('help', 'ch'), ['check'])
  t.same(offered('nonsense', ''), [])
  for (const { name, options } of every) {
    const all = [...Object.keys(options), 'help'].map((option) => `--${option}`)
    t.same(offered(...name.split(' '), '--'), all, name)
    t.same(offered(...name.split(' '), 'x', '--'), all, name)
  }
  const files = ['gates', 'gateway two.yaml', 'gateway.config.yaml']
  t.same(offered('check', '--config', 'gate').sort(), files, 'files')
  t.same(offered('check', '--config', '=', 'gate').sort(), files, 'bash splits at =')
  t.ok(offered('check', '--config', '=').includes('gateway.config.yaml'))
  t.same(offered('init', 'gate'), ['gates'], 'folders')
  t.same(offered('completion', ''), ['bash', 'zsh', 'fish'])
  t.same(offered('explain', 'P'), ['POST', 'PUT', 'PATCH'])
  t.same(offered('token', '--sub', ''), [], 'nothing is known of it')
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
  t.match(await seatgate(cwd, ['completion', 'bush']), {
    code: 2,
    out: '',
    err: /^seatgate completion: SHELL "bush" is not bash, zsh or fish \(did you mean "bash"\?\)\nusage: /,
  })
  t.match(await seatgate(cwd, ['completion']), { code: 2, out: '', err: /SHELL is missing/ })
})
