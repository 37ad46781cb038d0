/** Wrong input at every option of every command, and what help says of them; in this process. */

import t from 'tap'
import { type Option, readArguments, UsageError } from '../../src/cli/arguments.ts'
import type { Command, Terminal } from '../../src/cli/command.ts'
import { commands, everyCommand, groups } from '../../src/cli/commands.ts'
import { groupOverviewOf, helpOf, overviewOf, usageOf } from '../../src/cli/help.ts'

const every = await everyCommand()

/** As a part of a regular expression. */
const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** A command that gets as far as to use it has accepted its arguments. */
const terminal: Terminal = {
  env: {},
  print: () => Promise.reject(new Error('printed')),
  printError: () => {},
  readInput: () => Promise.reject(new Error('read')),
  columns: 80,
  ask: () => Promise.reject(new Error('asked')),
  abandonOutput: () => {},
}

function refusalOf(command: Command, args: string[]): Promise<string> {
  return command.run(args, terminal).then(
    () => 'accepted',
    (error) => (error instanceof UsageError ? error.message : `not as usage: ${error}`),
  )
}

t.test('every command stands under its name', async (t) => {
  for (const [name, load] of Object.entries(commands)) t.equal((await load()).name, name)
})

for (const command of every)
  t.test(command.name, async (t) => {
    for (const [name, option] of Object.entries<Option>(command.options)) {
      // With a letter at its end, --api-key would also be near to --api-keys.
      const misspelt = `--x${name}`
      t.match(await refusalOf(command, [misspelt]), `unknown option ${misspelt} (did you mean "--${name}"?)`)
      const wrong = option.value !== undefined ? [`--${name}`] : [`--${name}=yes`]
      t.match(await refusalOf(command, wrong), /argument/, wrong.join(' '))
      const value = option.value !== undefined ? '=a' : ''
      if (!option.multiple)
        t.equal(
          await refusalOf(command, [`--${name}${value}`, `--${name}${value}`]),
          `--${name} is given twice`,
        )
    }
    t.equal(await refusalOf(command, ['-z']), 'unknown option -z')
    const { positionals = [] } = command
    const surplus = [...positionals.map(({ choices }) => choices?.[0] ?? 'a'), 'b']
    const required = Object.entries<Option>(command.options).filter(([, each]) => each.required)
    const given = required.map(([name]) => `--${name}=a`)
    if (positionals.at(-1)?.multiple !== true)
      t.equal(await refusalOf(command, [...surplus, ...given]), 'unexpected argument "b"')
    for (const [name] of required) {
      const others = given.filter((each) => !each.startsWith(`--${name}=`))
      t.equal(await refusalOf(command, others), `--${name} is required`)
      if (command.options[name]?.multiple !== true)
        t.equal(await refusalOf(command, [...others, `--${name}=`]), `--${name} is required`)
    }
  })

t.test('positional arguments', async (t) => {
  const positionals = [
    { name: 'ONE', description: '' },
    { name: 'TWO', description: '', default: 'b', choices: ['b', 'c'] },
  ]
  const read = (...args: string[]) => readArguments(args, { options: {}, positionals }).positionals
  t.same(read('a'), ['a', 'b'])
  t.same(read('a', 'c'), ['a', 'c'])
  t.same(read('--', '--a'), ['--a', 'b'])
  t.throws(() => read(), new UsageError('ONE is missing'))
  t.throws(() => read('a', 'd'), new UsageError('TWO "d" is not b or c'))
  t.throws(() => read('a', 'b', 'c'), new UsageError('unexpected argument "c"'))
  t.throws(() => read(''), new UsageError('ONE is empty'))
  t.throws(() => read('a', ''), new UsageError('TWO is empty'))
})

t.test('the last positional argument may take several values', async (t) => {
  const positionals = [
    { name: 'ONE', description: '' },
    { name: 'FILE', description: '', default: 'x', multiple: true },
  ]
  const read = (...args: string[]) => readArguments(args, { options: {}, positionals }).positionals
  t.same(read('a'), ['a', 'x'])
  t.same(read('a', 'b', 'c'), ['a', 'b', 'c'])
  t.throws(() => read(), new UsageError('ONE is missing'))
  t.throws(() => read('a', 'b', ''), new UsageError('FILE is empty'))
})

t.test('further values belong to the list option before them', async (t) => {
  const list = { value: 'S', multiple: true, description: '' } as const
  const options = { in: list, permission: list, one: { value: 'S', description: '' } } as const
  const read = (text: string) => {
    const given = readArguments(text.split(' '), { options, positionals: [{ name: 'X', description: '' }] })
    const { in: spaces = [], permission = [] } = given.values
    return `${given.positionals.join(' ')} in ${spaces.join(' ')}: ${permission.join(' ')}`
  }
  t.equal(read('X --in main --permission a:b c:d'), 'X in main: a:b c:d')
  t.equal(read('X --in main lab --permission a:b c:d e:f'), 'X in main lab: a:b c:d e:f')
  t.equal(read('X --permission a:b c:d --in main lab'), 'X in main lab: a:b c:d')
  t.equal(read('--permission a:b c:d --in m n -- X'), 'X in m n: a:b c:d')
  t.equal(read('--permission a:b --in m X'), 'X in m: a:b', 'the only one is no further value')
  t.equal(read('--permission a:b --in=m --one 1 X'), 'X in m: a:b')
  t.throws(() => read('--in m n --permission a:b X'), new UsageError('unexpected argument "X"'), 'unclear')
  t.throws(() => read('X --one 1 Y'), new UsageError('unexpected argument "Y"'), 'no list')
})

t.test('an empty name of the audit is none', async (t) => {
  const list = every.find(({ name }) => name === 'audit list')
  if (list === undefined) throw new Error('no audit list')
  for (const option of ['--actor', '--target'])
    t.equal(await refusalOf(list, ['--tenant', 'acme', option, '']), `${option} is empty`)
})

t.test('options that exclude each other', async (t) => {
  const explain = every.find(({ name }) => name === 'explain')
  if (explain === undefined) throw new Error('no explain')
  const refusal = (...args: string[]) => refusalOf(explain, ['GET', '/', ...args])
  const key = '--token, --api-key, --seat and --from exclude each other'
  t.equal(await refusal('--token', 'a', '--api-key', 'b'), key)
  const all = '--token, --seat, --user, --api-key-id and --from exclude each other'
  t.equal(await refusal('--token', 'a', '--seat', 'a'), all)
  const tenant = '--tenant goes with --seat: --api-key has its own tenant'
  t.equal(await refusal('--tenant', 'a', '--api-key', 'b'), tenant)
  t.match(usageOf(explain), ' [--token T | --seat NAME… | --user SUB | --api-key-id ID | --from LOG] ')
})

/** Without the breaks of a screen: lines go on at the margin of a paragraph, or below a second column. */
function unfolded(text: string): string {
  return text.replace(/\n {4,}/g, ' ').replace(/(\S)\n(\S)/g, '$1 $2')
}

t.test('help has everything that is declared, and an example that is accepted', async (t) => {
  for (const command of every) {
    const help = unfolded(helpOf(command))
    t.ok(help.startsWith(`usage: seatgate ${usageOf(command)}\n\n${command.summary}`), command.name)
    for (const [name, { description, default: fallback }] of Object.entries<Option>(command.options)) {
      t.match(help, new RegExp(`^  --${name}( .*)?  ${escaped(description)}`, 'm'))
      if (fallback !== undefined) t.match(help, `(default: ${fallback})`)
    }
    for (const meaning of Object.values(command.exits)) t.match(help, meaning)
    const [, words = ''] = /seatgate ([^>)]*)/.exec(command.example) ?? []
    t.ok(`${words} `.startsWith(`${command.name} `), command.example)
    const args = words
      .slice(command.name.length)
      .split(' ')
      .filter((each) => each !== '')
    t.doesNotThrow(() => readArguments(args, command), command.example)
  }
})

t.test('the overview has a line for each command', async (t) => {
  const overview = unfolded(overviewOf(every, groups))
  const single = every.filter(({ name }) => !name.includes(' ') && !Object.hasOwn(groups, name))
  const rows = single.map(({ name, summary }) => [name, summary])
  for (const [name, summary = ''] of [...rows, ...Object.entries(groups)])
    t.match(overview, new RegExp(`^  ${name} +${escaped(summary)}$`, 'm'))
})

t.test('the overview of a group has a line for each of its commands', async (t) => {
  t.same(
    new Set(every.flatMap(({ name }) => (name.includes(' ') ? name.split(' ')[0] : []))),
    new Set(Object.keys(groups)),
  )
  for (const [group, meaning] of Object.entries(groups)) {
    const own = every.filter(({ name }) => name.startsWith(`${group} `))
    const overview = unfolded(groupOverviewOf(group, meaning, own))
    for (const { name, summary } of own)
      t.match(overview, new RegExp(`^  ${name.slice(group.length + 1)} +${escaped(summary)}$`, 'm'))
  }
})
