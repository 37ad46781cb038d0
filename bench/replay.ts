/**
 * `node bench/replay.ts [--lines 1000000,10000000] [--folder DIR]`: lines a second and memory of `seatgate replay`, beside `jq`
 * over the same file. Prints Markdown. A made log needs 500 MB for a million lines; with --folder it is kept.
 */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand } from './command-run.ts'
import { writeLog, writeTables } from './replay/made-log.ts'
import { machine } from './results.ts'

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '1000000,10000000' },
    folder: { type: 'string' },
  },
})

const SEATGATE = resolve(import.meta.dirname, '../src/cli/seatgate.js')

const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'seatgate-replay-'))
const rows: string[] = []
try {
  writeTables(folder)
  const hasJq = spawnSync('jq', ['--version']).status === 0
  for (const lines of values.lines.split(',').map(Number)) {
    const log = join(folder, `${lines}.log`)
    if (!existsSync(log)) await writeLog(log, lines)
    const own = await runCommand(
      process.execPath,
      [SEATGATE, 'replay', log, '--seats', 'seats.yaml', '--json'],
      folder,
    )
    const { same } = JSON.parse(own.out) as { readonly same: number }
    if (own.code !== 0 || same !== lines) throw new Error(`${same} of ${lines} are the same: ${own.out}`)
    const jq = hasJq ? await runCommand('jq', ['-c', '.decision', log], folder, { keep: false }) : null
    const rate = (seconds: number) => Math.round(lines / seconds).toLocaleString('en')
    const cells = [
      lines.toLocaleString('en'),
      `${Math.round(statSync(log).size / 1024 ** 2)} MiB`,
      rate(own.seconds),
      rate(own.cpu),
      `${Math.round(own.memory)} MiB`,
      jq === null ? '' : rate(jq.seconds),
      jq === null ? '' : rate(jq.cpu),
      jq === null ? '' : (jq.cpu / own.cpu).toFixed(1),
    ]
    rows.push(`| ${cells.join(' | ')} |`)
    if (values.folder === undefined) rmSync(log)
  }
} finally {
  if (values.folder === undefined) rmSync(folder, { recursive: true, force: true })
}
const titles = [
  'lines',
  'log',
  'a second',
  'a CPU second',
  'memory',
  'jq a second',
  'jq a CPU second',
  'CPU of jq / own',
]
console.log(
  [machine(), '', `| ${titles.join(' | ')} |`, `|${'---|'.repeat(titles.length)}`, ...rows].join('\n'),
)
