/** The bench of drills runs `seatgate verify` against a real fleet while something fails, and tells what it found. */

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { serverFolder } from '../support/servers/folder.ts'

const run = promisify(execFile)

t.test('a rolling upgrade, in short', async (t) => {
  const reports = serverFolder(t, 'drills')
  const args = ['bench/drills.ts', '--duration', '20s', '--only', 'rolling-upgrade', '--reports', reports]
  const { stdout } = await run(process.execPath, args)
  const report = JSON.parse(readFileSync(join(reports, 'rolling-upgrade.json'), 'utf8'))
  t.match(report, { result: 'ok', violations: [], left: [], during: { exit: 0 } })
  t.equal(report.places.length, 4, 'HAProxy, and each gateway')
  t.match(
    stdout,
    /^\| drill \| turns[^]*\| each gateway ended \(SIGTERM\) and started, one by one \| [1-9]\d* \|/,
  )
  t.equal(readFileSync(join(reports, 'summary.md'), 'utf8'), stdout.replace(/\n$/, ''))
  t.match(readFileSync(join(reports, 'rolling-upgrade.txt'), 'utf8'), /^nothing stale: 0 violations/)
})

t.test('an unknown drill', async (t) => {
  const args = ['bench/drills.ts', '--only', 'nothing']
  await t.rejects(run(process.execPath, args), { code: 2, stderr: /the drills are none, redis,/ })
})
