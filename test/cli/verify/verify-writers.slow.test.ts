/** `seatgate verify --writers N` against a gateway in a process of its own. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../../support/until.ts'
import { outcomeOf, seatgate, SECRET } from '../command-line.ts'
import { SPACE, startGate } from './gate.ts'

const gate = await startGate(t)
const { admin, names, run, start, folder } = gate
const before = await names()
writeFileSync(join(folder, 'secret'), `${SECRET}\n`)

t.test('several writers, with tokens: what is checked; all that they made is deleted', async (t) => {
  const { code, out, err } = await run(
    ...['--writers', '5', '--duration', '10s', '--json', '--token-secret-file', 'secret'],
  )
  t.equal(code, 0, err)
  const report = JSON.parse(out)
  t.match(report, { result: 'ok', why: null, violations: [], left: [] })
  t.match(report.histories, { writers: 5, unchecked: 0 })
  t.ok(report.histories.operations > report.reads, 'reads and writes')
  t.ok(report.writes > 10, `writes: ${report.writes}`)
  t.ok(report.reads > 100, `reads: ${report.reads}`)
  t.match(
    report.not_tested.map(({ what }: { what: string }) => what),
    ['open streams', 'the block of a user'],
  )
  t.same(await names(), before)
})

t.test('as text, by a key of the space alone', async (t) => {
  const rights = ['seats', 'api-keys'].flatMap((each) =>
    ['list', 'read', 'create', 'delete'].map((verb) => `${each}:${verb}`),
  )
  const permissions = [...rights, 'seats:update', 'canary:read']
  const { json: seat } = await admin('POST', '/v1/seats', { name: 'Local', spaces: [SPACE], permissions })
  const { json: made } = await admin('POST', '/v1/api-keys', { name: 'local', seats: ['Local'] })
  const env = { SEATGATE_URL: gate.gateway.origin, SEATGATE_API_KEY: String(made.key) }
  const args = ['verify', '--space', SPACE, '--writers', '2', '--duration', '10s']
  const { code, out, err } = await seatgate(folder, args, env)
  t.equal(code, 0, err)
  t.match(out, /^order: \d+ operations of 2 writers and all readers checked, in \d+ scenes?$/m)
  await admin('DELETE', `/v1/api-keys/${made.id}`)
  await admin('DELETE', `/v1/seats/${seat.id}`)
  t.same(await names(), before)
})

t.test('one writer: the histories are null', async (t) => {
  const { out } = await run('--writers', '1', '--duration', '3s', '--json')
  t.equal(JSON.parse(out).histories, null)
})

t.test('Ctrl-C: what was made is deleted, and the report says so', async (t) => {
  const child = start('--writers', '4', '--duration', '10m')
  const ran = outcomeOf(child)
  await until(async () => (await names()).length >= before.length + 3, 'Seats are made')
  child.kill('SIGINT')
  const { code, out, err } = await ran
  t.equal(code, 1)
  t.match(out, /it was interrupted/)
  t.match(err, /deleting what it made; a second Ctrl-C leaves it/)
  t.same(await names(), before)
})
