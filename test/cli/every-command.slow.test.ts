/** What all commands have in common when they do their work: widths, colours, pipes. */

import { cpSync } from 'node:fs'
import t, { type Test } from 'tap'
import { commands, everyCommand, groups } from '../../src/cli/commands.ts'
import { groupOverviewOf, helpOf, overviewOf } from '../../src/cli/help.ts'
import { folderWith } from './command-line.ts'
import {
  argsOf,
  askForColours,
  folderWithStore,
  intoHead,
  isRemote,
  LONG,
  PLACED,
  ROWS,
  wellSaid,
} from './every-command.ts'
import { seatgateHere, seatgateUnread } from './in-process.ts'

const COLUMNS = 80
askForColours()
const withStore = await folderWithStore(t)

/** A copy: no command meets what another one has left. */
function folder(t: Test): string {
  const copy = folderWith(t, {})
  cpSync(withStore, copy, { recursive: true })
  return copy
}

/** To be copied into a shell, and a credential. */
const COPIED = /^(?:curl |TOKEN=|sk_|ey)/

function isWide(line: string): boolean {
  if (line.length <= COLUMNS || PLACED.test(line) || COPIED.test(line)) return false
  return !line.includes(LONG)
}

t.test('each command has its row', async (t) => {
  t.same(
    Object.keys(ROWS).toSorted(),
    Object.keys(commands)
      .filter((name) => name !== 'start' && name !== 'health' && !isRemote(name))
      .toSorted(),
  )
})

t.test('help, on 80 columns', async (t) => {
  const every = await everyCommand()
  const overviews = Object.entries(groups).map(([group, summary]) =>
    groupOverviewOf(
      group,
      summary,
      every.filter(({ name }) => name.startsWith(`${group} `)),
    ),
  )
  const texts = [overviewOf(every, groups), ...overviews, ...every.map(helpOf)]
  t.same(texts.flatMap((text) => text.split('\n')).filter(isWide), [])
  const shown = await seatgateHere(withStore, ['--help'])
  t.same(shown, { code: 0, out: `${texts[0]}\n`, err: '' })
})

for (const [name, { works, exit = 0 }] of Object.entries(ROWS))
  t.test(name, async (t) => {
    for (const line of works) {
      const ran = await seatgateHere(folder(t), argsOf(line))
      t.equal(ran.code, exit, `${line}: ${ran.err}`)
      wellSaid(t, ran, line)
      if (name !== 'completion' && name !== 'audit export')
        // The paths of the gateway's own endpoints are shown whole.
        t.same(
          ran.out
            .split('\n')
            .filter(isWide)
            .filter((each) => !each.endsWith('(built in)')),
          [],
          line,
        )
    }
    const unread = await seatgateUnread(folder(t), argsOf(works[0] ?? ''))
    t.equal(unread.code, name === 'bootstrap' ? 1 : 0, 'the key of bootstrap is lost')
    wellSaid(t, unread, `${name} without a reader`)
  })

t.test('head -1 gets the first line, and no fault is reported', async (t) => {
  const whole = await seatgateHere(withStore, ['routes'])
  t.same(await intoHead(withStore, ['routes']), { code: 0, out: whole.out.replace(/\n[^]*/, '\n'), err: '' })
})
