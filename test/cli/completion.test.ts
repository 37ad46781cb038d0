/** What `seatgate __complete` offers, and the scripts of shells; `completion.slow.test.ts` runs these in the shells. */

import { spawnSync } from 'node:child_process'
import t, { type Test } from 'tap'
import { actionsOf, everyCommand, firstWords, groups } from '../../src/cli/commands.ts'
import { folderWith } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const every = await everyCommand()

async function offered(t: Test, words: readonly string[]): Promise<string[]> {
  const { code, out, err } = await seatgateHere(folderWith(t, {}), ['__complete', ...words])
  t.match({ code, err }, { code: 0, err: '' })
  return out.split('\n').slice(0, -1)
}

async function words(t: Test, line: readonly string[]): Promise<string[]> {
  return (await offered(t, line)).map((each) => each.split('\t')[0] ?? '')
}

t.test('words, values and paths', async (t) => {
  const cases: [line: string[], offered: string[]][] = [
    [[''], [...firstWords(), '--help', '--version']],
    [['seats'], [...firstWords(), '--help', '--version']],
    [['help', ''], firstWords()],
    [['help', 'check', ''], []],
    [['seats', 'c'], actionsOf('seats')],
    [['help', 'audit', ''], actionsOf('audit')],
    [['nonsense', ''], []],
    [['seats', 'nonsense', ''], []],
    [['__proto__', ''], []],
    [['check', '--config', 'gate'], [':file']],
    [['check', '--config=gate'], [':file']],
    [['check', '--config', '=', 'gate'], [':file']],
    [['check', '--config', '='], [':file']],
    [['init', 'gate'], [':folder']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [
      ['check', '--format', ''],
      ['text', 'json', 'github', 'sarif'],
    ],
    [
      ['explain', '--space', 'main', ''],
      ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    ],
    [
      ['explain', '--url', 'http', ':', '//127.0.0.1', ':', '8080', 'P'],
      ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    ],
    [['import', '--upstream=u', 'openapi', ''], [':file']],
    [['seats', 'plan', 'a.yaml', 'b.yaml', ''], [':file']],
    [['token', '--sub', ''], []],
    [
      ['health', '--ready', '--'],
      ['--config', '--help'],
    ],
  ]
  for (const [line, expected] of cases) t.same(await words(t, line), expected, line.join(' '))
})

t.test('the options of each command, with their meaning', async (t) => {
  for (const { name, options } of every) {
    const all = Object.entries(options).map(([option, { description }]) => `--${option}\t${description}`)
    // The command of a group has no positional: a word there is an action.
    for (const more of Object.hasOwn(groups, name) ? [[]] : [[], ['x']])
      t.same(await offered(t, [...name.split(' '), ...more, '--']), [...all, '--help\tprints help'], name)
  }
})

t.test('an option with one value is offered once', async (t) => {
  const line = ['token', '--sub', 'a', '--seat', 'A', '-']
  t.same(await words(t, line), ['--tenant', '--email', '--seat', '--lifetime', '--config', '--help'])
})

for (const [shell, check] of [
  ['bash', '-n'],
  ['zsh', '-n'],
  ['fish', '--no-execute'],
] as const)
  t.test(shell, async (t) => {
    const { code, out } = await seatgateHere(folderWith(t, {}), ['completion', shell])
    t.equal(code, 0)
    t.match(out, / __complete /)
    if (spawnSync(shell, ['-c', 'true']).status === 0)
      t.equal(spawnSync(shell, [check, 'script'], { cwd: folderWith(t, { script: out }) }).status, 0)
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
