/** `seatgate verify` against a gateway in a process of its own: what it reports, and what it leaves behind. */

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { bundled } from '../../support/bundled.ts'
import { until } from '../../support/until.ts'
import { MAIN, outcomeOf } from '../command-line.ts'
import { SPACE, startGate } from './gate.ts'

const MANUAL = new URL('../../../docs/verify.md', import.meta.url)
const gate = await startGate(t)
const { admin, names, run, start, folder } = gate
const other = ['canary:read', 'seats:list']
await admin('POST', '/v1/seats', { name: 'seatgate-verify', spaces: [SPACE], permissions: ['canary:read'] })
await admin('POST', '/v1/seats', { name: 'seatgate-verify-team', spaces: [SPACE], permissions: other })
await admin('POST', '/v1/api-keys', { name: 'seatgate-verify-team', seats: ['seatgate-verify', 'admin'] })
const before = await names()

t.test('a run with a freeze: what it reports; all that it made is deleted', async (t) => {
  const { pid } = gate.gateway
  const frozen = `kill -STOP ${pid}; sleep 2; kill -CONT ${pid}`
  const drill = ['--during', `echo of the drill; echo no key: $SEATGATE_API_KEY; ${frozen}`]
  const { code, out, err } = await run('--duration', '15s', '--json', '--each-instance', ...drill)
  t.equal(code, 0, err)
  const report = JSON.parse(out)
  t.match(report, { result: 'ok', why: null, violations: [], violations_total: 0, left: [] })
  t.ok(report.reads > 100, `reads: ${report.reads}`)
  t.ok(report.writes >= 5, `writes: ${report.writes}`)
  const { port, origin } = gate.gateway
  t.same(
    report.places.map(({ place }: { place: string }) => place),
    [origin, `http://localhost:${port}`],
  )
  t.ok(report.write_ms.p50 > 0 && report.write_ms.max >= report.write_ms.p99)
  t.ok(report.seen_ms.count > 0)
  t.match(report.during, { exit: 0, command: /drill/ })
  t.match(err, /of the drill\nno key:\n/)
  const untested = report.not_tested.map(({ what }: { what: string }) => what)
  t.ok(untested.includes('tokens, and the block of a user'))
  t.ok(untested.includes('the end of a session'))
  t.same(await names(), before)
  const { data } = (await admin('GET', '/v1/api-keys?limit=100')).json
  const left = data.filter(
    (key: { name: string }) => key.name.startsWith('seatgate-verify-') && !before.includes(key.name),
  )
  t.ok(left.length > 0, 'revoked keys stay listed')
  for (const key of left) t.ok(key.expires_at > key.created_at, 'and would have expired')
})

t.test('kill -9: the commands of the manual delete what is left, and nothing else', async (t) => {
  const child = start('--duration', '10m')
  const ran = outcomeOf(child)
  await until(async () => (await names()).length >= before.length + 3, 'a Seat and a key are made')
  child.kill('SIGKILL')
  await ran
  const [, commands = ''] = /```\n([^`]*xargs[^`]*)```/.exec(readFileSync(MANUAL, 'utf8')) ?? []
  const [run = ''] = (await names()).flatMap((name) => /^seatgate-verify-[0-9a-z]{10}-/.exec(name) ?? [])
  const script = commands
    .replaceAll('npx seatgate', `'${process.execPath}' '${MAIN}'`)
    .replaceAll('seatgate-verify-k3x9m2q8ab-', run)
  const env = { ...process.env, ...bundled(), SEATGATE_URL: gate.gateway.origin, SEATGATE_API_KEY: gate.key }
  const { code, err } = await outcomeOf(spawn('sh', ['-ec', script], { cwd: folder, env }))
  t.equal(code, 0, err)
  t.same(await names(), before)
})
