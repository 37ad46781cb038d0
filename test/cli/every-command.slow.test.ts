/** What all commands have in common when they do their work: widths, colours, pipes. */

import { spawn } from 'node:child_process'
import { cpSync } from 'node:fs'
import t, { type Test } from 'tap'
import { commands, everyCommand, groups } from '../../src/cli/commands.ts'
import { groupOverviewOf, helpOf, overviewOf } from '../../src/cli/help.ts'
import { folderWith, MAIN, type Ran, SECRET, seatgate } from './command-line.ts'
import { folderWithStore, isRemote, LONG, PLACED, ROWS, wellSaid } from './every-command.ts'

const COLUMNS = 80
/** Node.js itself warns of both. */
const PLAIN = { NO_COLOR: '1', FORCE_COLOR: undefined }
const COLOURFUL = { NO_COLOR: undefined, FORCE_COLOR: '3', CLICOLOR_FORCE: '1', COLORTERM: 'truecolor' }
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
      .filter((name) => name !== 'start' && !isRemote(name))
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
  const shown = await seatgate(withStore, ['--help'], COLOURFUL)
  t.same(shown, { code: 0, out: `${texts[0]}\n`, err: '' })
})

for (const [name, row] of Object.entries(ROWS))
  t.test(name, async (t) => {
    for (const args of row.works) {
      const ran = await seatgate(folder(t), args, PLAIN)
      t.equal(ran.code, row.exit ?? 0, `${args.join(' ')}: ${ran.err}`)
      wellSaid(t, ran, args.join(' '))
      if (name !== 'completion' && name !== 'audit export')
        t.same(ran.out.split('\n').filter(isWide), [], args.join(' '))
    }
    const [args = []] = row.works
    const [ran, again, piped] = await Promise.all([
      seatgate(folder(t), args, PLAIN),
      seatgate(folder(t), args, COLOURFUL),
      intoHead(folder(t), args),
    ])
    wellSaid(t, again, args.join(' '))
    t.equal(again.out.split('\n').length, ran.out.split('\n').length, 'no colour, whatever is asked')
    t.ok([0, row.exit ?? 0].includes(piped.code ?? -1), `${args.join(' ')} | head -1: ${piped.code}`)
    t.equal(piped.err, ran.err, 'no more than without a pipe')
    const [line = ''] = ran.out.split('\n')
    if (!COPIED.test(line)) t.equal(piped.out, `${line}\n`)
  })

/** As a shell runs it; the exit code is that of the command. */
function intoHead(cwd: string, args: readonly string[]): Promise<Ran> {
  const script = '"$@" | head -1; exit "${PIPESTATUS[0]}"'
  const child = spawn('bash', ['-c', script, 'bash', process.execPath, MAIN, ...args], {
    cwd,
    env: { ...process.env, ACME_SECRET: SECRET, ...PLAIN },
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.on('data', (chunk) => (err += chunk))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })))
}
