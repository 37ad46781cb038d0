/** Commands of the manual exist: those of `seatgate` with every option, and scripts of npm. */

import { readFileSync } from 'node:fs'
import t from 'tap'
import { folderWith, seatgate } from '../cli/command-line.ts'
import { pages, root, textOf } from './pages.ts'

t.test('operations.md has each command with its options', async (t) => {
  const { out } = await seatgate(folderWith(t, {}), ['--help'])
  const usages = [...out.matchAll(/^ +seatgate (\S+)(.*)$/gm)]
  t.ok(usages.length >= 7, out)
  const rows = textOf('docs/operations.md').match(/^\| `seatgate .*$/gm) ?? []
  t.equal(rows.length, usages.length)
  for (const [, name, usage = ''] of usages) {
    const row = rows.find((each) => each.startsWith(`| \`seatgate ${name} `)) ?? ''
    for (const [option] of usage.matchAll(/--[a-z-]+/g)) t.ok(row.includes(option), `${name} ${option}`)
  }
})

t.test('npm scripts', async (t) => {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  for (const page of pages)
    for (const [, name = ''] of textOf(page).matchAll(/npm run (?:-s )?([\w:]+)/g))
      t.ok(name in scripts, `${page}: npm run ${name}`)
})
