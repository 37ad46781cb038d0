/** Pushes of route tables at three instances: no decision after the answer is by the former tables. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)

/** The cells of the rows of each table below its head. */
function rowsOf(stdout: string): string[][] {
  const lines = stdout.split('\n').filter((line) => /^\| (?!instances|routes|\|)/.test(line))
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

t.test('a quiet fleet, and what requests notice', async (t) => {
  const args = ['bench/pushes.ts', '--quick', '--only', 'fleet,stall', '--routes', '10', '--turns', '2']
  const { stdout } = await run(process.execPath, args)
  const [withRedis = [], without = [], stall = []] = rowsOf(stdout)
  for (const [row, redis] of [
    [withRedis, 'yes'],
    [without, 'no'],
  ] as const) {
    t.same(row.slice(0, 4), ['3', redis, '10', '2'])
    const [answer, phases, first, checked, stale] = row.slice(4)
    t.match([answer, first], [/^\d+, \d+$/, /^\d+, \d+$/])
    t.match(phases, /^\d+, \d+, \d+$/, 'each phase has its time')
    t.ok(Number(checked) >= 2 * 3 * 5, `decisions: ${checked}`)
    t.equal(stale, '0')
  }
  t.same(stall.slice(0, 2), ['10', '2'])
  for (const cell of stall.slice(2)) t.match(cell, /^\d+, \d+$/)
})

t.test('something fails', async (t) => {
  const args = ['bench/pushes.ts', '--quick', '--only', 'drills', '--turns', '1', '--routes', '10']
  const { stdout } = await run(process.execPath, args)
  const rows = rowsOf(stdout)
  t.equal(rows.length, 6)
  for (const [name = '', routes, pushes, answer, checked, away, stale] of rows) {
    t.same([routes, pushes, stale], ['10', '1', '0'], name)
    t.match(answer, /^\d+, \d+$/)
    t.ok(Number(checked) >= 3 * 5 && Number(away) >= 5, `${name}: ${checked}, ${away}`)
  }
})

t.test('what it cannot measure', async (t) => {
  const refused = (...args: string[]) =>
    t.rejects(run(process.execPath, ['bench/pushes.ts', ...args]), {
      code: 2,
      stderr: /the parts are fleet, stall, drills|--routes is/,
    })
  await refused('--only', 'none')
  await refused('--instances', '1')
  await refused('--routes', '0')
})
