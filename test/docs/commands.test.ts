/** Commands of the manual exist: those of `seatgate` with every option, and scripts of npm. */

import { readFileSync } from 'node:fs'
import t from 'tap'
import { everyCommand, groups } from '../../src/cli/commands.ts'
import { blocksOf, pages, placeOf, root, textOf } from './pages.ts'

t.test('commands and their options', async (t) => {
  const commands = new Map((await everyCommand()).map(({ name, options }) => [name, options]))
  const lines = pages.flatMap((page) =>
    blocksOf(page).flatMap((block) =>
      block.text.split('\n').map((line) => ({ line, place: placeOf(block) })),
    ),
  )
  const calls = lines.flatMap(({ line, place }) => {
    const [, first = '', further = ''] = /\bnpx seatgate ([a-z-]+)([^)|>]*)/.exec(line) ?? []
    const [, action = '', rest = ''] = Object.hasOwn(groups, first)
      ? (/^ ([a-z]+)(.*)/.exec(further) ?? [])
      : []
    if (action !== '') return [{ name: `${first} ${action}`, rest, place }]
    return first === '' ? [] : [{ name: first, rest: further, place }]
  })
  t.ok(calls.length >= 5, `${calls.length} calls`)
  for (const { name, rest, place } of calls) {
    t.ok(commands.has(name), `${place}: ${name}`)
    for (const [, option = ''] of rest.matchAll(/ --([a-z-]+)/g))
      t.ok(Object.hasOwn(commands.get(name) ?? {}, option), `${place}: ${name} --${option}`)
  }
})

t.test('npm scripts', async (t) => {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  for (const page of pages)
    for (const [, name = ''] of textOf(page).matchAll(/npm run (?:-s )?([\w:]+)/g))
      t.ok(name in scripts, `${page}: npm run ${name}`)
})
