/** `seatgate verify --end-session`: the end of sign-in sessions in a fleet, whole and broken. */

import t from 'tap'
import type { RunRecord } from '../../src/cli/verify/run-record.ts'
import { hasMade } from '../cli/verify/verify-here.ts'
import { applyVariant, BREAKABLE } from './broken-fleet.ts'
import { startFleet } from './fleet.ts'
import { verifyFleet, verifyUntil } from './verifying.ts'

const fleet = await startFleet(t, { ...BREAKABLE, gateways: 2 })

async function signIn(providerSid: string, user = 'tester'): Promise<string> {
  return (await fleet.session({ user, providerSid, hashPerm: [] })).id
}

async function liveSessions(user = 'tester'): Promise<string[]> {
  const { json } = await fleet.admin(fleet.first, 'GET', `/v1/sessions?user=${user}`)
  return json.data.map(({ id }: { id: string }) => id)
}

t.test('a fleet that is whole', async (t) => {
  t.jobs = 2
  t.test('a session ends everywhere; one whose turn does not come stays', async (t) => {
    const [first, second] = [await signIn('first'), await signIn('second')]
    const hasEnded = (record: RunRecord) => hasMade(record, 'rename')
    const report = await verifyUntil(t, fleet, hasEnded, { sessions: [first, second] })
    t.same(report.violations, [])
    t.equal(report.operations['end session'], 1)
    t.match(report.not_tested, [
      { what: `the end of session ${second}`, why: 'the run ended before its turn' },
    ])
    t.same(await liveSessions(), [second])
  })

  t.test('a session whose turn comes as the run ends is not tested', async (t) => {
    const session = await signIn('late', 'late')
    // It ends between the look at the session and the write, unless the machine is slow.
    const twice = [session, session].map((id) => `--end-session=${id}`)
    const { report } = await verifyFleet(t, fleet, '--duration', '5600ms', ...twice)
    const isLeft = (await liveSessions('late')).includes(session)
    t.equal(report.operations['end session'] ?? 0, isLeft ? 0 : 1)
    const untested = report.not_tested.filter(({ what }) => what === `the end of session ${session}`)
    t.same(
      untested.map(({ why }) => why),
      isLeft ? ['the run ended before its turn'] : [],
    )
  })
})

t.test('an end that no gateway remembers is found', async (t) => {
  await Promise.all(fleet.gateways.map((gateway) => applyVariant('forgets-no-session', gateway)))
  const session = await signIn('third')
  const report = await verifyUntil(t, fleet, ({ violations }) => violations > 0, { sessions: [session] })
  t.match(report.violations, [{ kind: 'stale', subject: 'token of a session', expected: ['token_invalid'] }])
  t.match(report.violations[0]?.write, { operation: 'end session' })
  await Promise.all(fleet.gateways.map((gateway) => applyVariant('intact', gateway)))
})

t.test('an unknown session, or one that has ended: nothing is left', async (t) => {
  const unknown = 'A'.repeat(22)
  await t.rejects(verifyFleet(t, fleet, `--end-session=${unknown}`), {
    message: /session A{22} of --end-session is unknown or has ended/,
  })
  const { json } = await fleet.admin(fleet.first, 'GET', '/v1/seats?limit=100')
  t.same(
    json.data.filter(({ name }: { name: string }) => name.startsWith('seatgate-verify-')),
    [],
  )
})
