/** Questions about a tenant with `seats_from: scim`: who has which Seat is what its groups say now. */

import t from 'tap'
import { openStore } from '../../seats-admin/index.ts'
import { scim as provider } from '../seats-admin/store/scim-records.ts'
import { startScim } from './support.ts'

async function startTenant(t: Parameters<typeof startScim>[0], from = 'scim', user = 'externalId') {
  const scim = await startScim(t, {
    acme: [`seats_from: ${from}`],
    scim: `scim: { token: "\${TOKEN}", user: ${user} }`,
  })
  const { world } = scim
  const viewer = await world.seat('Viewer', ['s1'], ['trainings:list'])
  await world.seat('Editor', ['s1'], ['trainings:list', 'trainings:create'])
  const ask = async (path: string) => (await world.admin('GET', path)).json
  const signIn = async (sub: string, seats: readonly string[]) => {
    const store = await openStore(world.config.store)
    await store.recordSignIn('acme', { sub, email: null, name: null, at: 1 }, seats)
    await store.close()
  }
  /** A sign-in with the claim. */
  const recordClaim = async (sub: string, claim: string) => {
    const store = await openStore(world.config.store)
    await store.recordScimMember(provider(), sub, claim)
    await store.close()
  }
  return { scim, world, viewer, ask, signIn, recordClaim }
}

t.test('Seats, users, who-can and can follow each change of the provider', async (t) => {
  const { scim, world, viewer, ask, signIn } = await startTenant(t)
  await signIn('ann', [viewer])
  const [ann, ben] = [
    await scim.user('ann'),
    await scim.user('ben', { emails: [{ value: 'b@x.example', type: 'work' }] }),
  ]
  const group = await scim.group('Editor', [ann, ben])
  const state = async () => {
    const { data: seats } = await ask('/v1/seats')
    const { data: users } = await ask('/v1/users')
    const who = await ask('/v1/access/who-can?permission=trainings:create')
    t.equal(who.exact, true)
    for (const { member_count_exact: exact } of seats) t.equal(exact, true)
    return {
      counts: Object.fromEntries(
        seats.map((each: { name: string; member_count: number }) => [each.name, each.member_count]),
      ),
      users: Object.fromEntries(
        users.map((each: { sub: string; seats: string[] }) => [each.sub, each.seats.join()]),
      ),
      who: who.users.map(({ sub }: { sub: string }) => sub),
    }
  }
  t.match(await state(), {
    counts: { Viewer: 0, Editor: 2 },
    users: { ann: 'Editor', ben: 'Editor' },
    who: ['ann', 'ben'],
  })
  t.match(await ask('/v1/users/ben'), { email: 'b@x.example', last_sign_in: null, seats: ['Editor'] })
  t.match(await ask('/v1/access/can?user=b@x.example&space=s1'), { data: [{ seat: 'Editor' }], exact: true })
  const plan = { tenant: 'acme', seats: {}, prune: true }
  const { changes, users_exact: exact } = (await world.admin('POST', '/v1/seats/plan', plan)).json
  t.equal(exact, true)
  t.same(changes.map((each: { name: string; users: number }) => [each.name, each.users]).sort(), [
    ['Editor', 2],
    ['Viewer', 0],
    ['admin', 0],
  ])
  await scim.patch(`/Groups/${group}`, { op: 'Remove', path: `members[value eq "${ben}"]` })
  t.match(await state(), { counts: { Editor: 1 }, users: { ben: '' }, who: ['ann'] }, 'removed')
  await scim.patch(`/Groups/${group}`, { op: 'Replace', path: 'displayName', value: 'Viewer' })
  t.match(await state(), { counts: { Editor: 0, Viewer: 1 }, users: { ann: 'Viewer' }, who: [] }, 'renamed')
  await scim.patch(`/Users/${ann}`, { op: 'Replace', path: 'active', value: 'False' })
  t.match(await state(), { counts: { Viewer: 0 }, users: { ann: '' }, who: [] }, 'deactivated')
})

t.test('by the claim, groups give nothing', async (t) => {
  const { scim, world, viewer, ask, signIn } = await startTenant(t, 'claim')
  await signIn('ann', [viewer])
  await scim.group('Editor', [await scim.user('ann')])
  const { data } = await ask('/v1/seats')
  t.match(
    data.map((each: { name: string; member_count: number }) => [each.name, each.member_count]),
    [
      ['admin', 0],
      ['Viewer', 1],
      ['Editor', 0],
    ],
  )
  t.match(await ask('/v1/users/ann'), { seats: ['Viewer'] })
  for (const { member_count_exact: exact } of data) t.equal(exact, false)
  t.equal((await ask('/v1/access/who-can?permission=trainings:list')).exact, false)
  t.equal((await ask('/v1/access/can?user=ann')).exact, false)
  t.equal((await ask('/v1/access/can?seat=Viewer')).exact, true)
  t.equal((await world.admin('POST', '/v1/seats/plan', { seats: {} })).json.users_exact, false)
})

t.test('by a claim of the token, lists lack those who have not signed in, and say so', async (t) => {
  const { scim, signIn, recordClaim, ask } = await startTenant(t, 'scim', '{ claim: oid }')
  await scim.group('Editor', [await scim.user('ann')])
  await signIn('sub-of-ann', [])
  const seat = (await ask('/v1/seats')).data.find(({ name }: { name: string }) => name === 'Editor')
  t.match(seat, { member_count: 1, member_count_exact: true })
  t.match(await ask('/v1/access/who-can?permission=trainings:create'), { users: [], exact: false })
  t.match(await ask('/v1/access/can?user=sub-of-ann'), { exact: false }, 'no sign-in has said the claim')
  await recordClaim('sub-of-ann', 'ann')
  t.match(await ask('/v1/access/can?user=sub-of-ann&space=s1'), { data: [{ seat: 'Editor' }], exact: true })
  t.equal((await ask('/v1/access/who-can?permission=trainings:create')).exact, false)
})
