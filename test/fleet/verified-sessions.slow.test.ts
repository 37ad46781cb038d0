/** `seatgate verify --end-session`: the end of sign-in sessions in a fleet, whole and broken. */

import t from 'tap'
import { applyVariant, BREAKABLE } from './broken-fleet.ts'
import { startFleet } from './fleet.ts'
import { verifyFleet } from './verifying.ts'

const fleet = await startFleet(t, { ...BREAKABLE, gateways: 2 })

async function signIn(providerSid: string): Promise<string> {
  return (await fleet.session({ user: 'tester', providerSid, hashPerm: [] })).id
}

async function liveSessions(): Promise<string[]> {
  const { json } = await fleet.admin(fleet.first, 'GET', '/v1/sessions?user=tester')
  return json.data.map(({ id }: { id: string }) => id)
}

t.test('a session ends everywhere; one whose turn does not come stays', async (t) => {
  const [first, second] = [await signIn('first'), await signIn('second')]
  const given = [first, second, first].map((id) => `--end-session=${id}`)
  const { code, report } = await verifyFleet(t, fleet, '--duration', '10s', ...given)
  t.equal(code, 0, `${report.why}`)
  t.same(report.violations, [])
  t.equal(report.operations['end session'], 1)
  t.match(report.not_tested, [{ what: `the end of session ${second}`, why: 'the run ended before its turn' }])
  t.same(await liveSessions(), [second])
})

t.test('an end that no gateway remembers is found', async (t) => {
  await Promise.all(fleet.gateways.map((gateway) => applyVariant('forgets-no-session', gateway)))
  const session = await signIn('third')
  const { code, report } = await verifyFleet(t, fleet, '--duration', '10s', `--end-session=${session}`)
  t.equal(code, 3)
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
