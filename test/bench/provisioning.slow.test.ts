/** A small company's week at three instances: no decision after a 2xx is stale. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)

t.test('a week', async (t) => {
  const { stdout } = await run(process.execPath, ['bench/provisioning.ts', '--quick', '--only', 'week'])
  const cells = stdout
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const rowOf = (name: string) => cells.find(([, first]) => first?.startsWith(name)) ?? []
  for (const day of [
    '5 joiners',
    '10 movers',
    '5 leavers',
    '3 groups',
    '10 users',
    'a reorganisation',
    'the end',
  ]) {
    const [, , , , statements, checked, stale] = rowOf(day)
    t.ok(Number(statements) > 0 && Number(checked) > 0, day)
    t.equal(stale, '0', day)
  }
  for (const kind of ['member added', 'SCIM deactivation', 'Global Token', 'event'])
    t.ok(Number(rowOf(kind)[2]) >= 5, kind)
  t.match(stdout, /45 streams of leavers ended, .*; not ended: 0\./)
})

t.test('an unknown part', async (t) => {
  await t.rejects(run(process.execPath, ['bench/provisioning.ts', '--only', 'none']), {
    code: 2,
    stderr: /the parts are week, drills/,
  })
})
