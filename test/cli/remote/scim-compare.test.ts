/** `seatgate scim compare`, at a gateway and on its store. */

import t from 'tap'
import { openStore } from '../../../seats-admin/index.ts'
import { GLOBEX_TOKEN, NEW_TOKEN, startScim, TOKEN } from '../../scim/support.ts'
import { env as worldEnv } from '../../support/world.ts'
import { seatgateHere } from '../in-process.ts'
import { afar } from './from-afar.ts'

const scim = await startScim(t)
const { world } = scim
const key = world.keys['acme'] ?? ''
const { run } = afar(t, world, key)
const [viewer, editor] = [
  await world.seat('Viewer', ['s1'], ['a:b']),
  await world.seat('Editor', ['s1'], ['a:b']),
]

async function signIn(sub: string, seats: readonly string[], areGroupsLeftOut = false) {
  const store = await openStore(world.config.store)
  await store.recordSignIn(
    'acme',
    { sub, email: `${sub}@x.example`, name: null, at: 1, areGroupsLeftOut },
    seats,
  )
  await store.close()
}

/** At the gateway, and on its store, which say the same. */
async function compared(...args: string[]) {
  const remote = await run(['scim', 'compare', ...args])
  const env = { ...worldEnv, TOKEN, NEW_TOKEN, GLOBEX_TOKEN }
  const local = await seatgateHere(world.folder, ['scim', 'compare', '--tenant', 'acme', ...args], env)
  t.same([local.code, local.out], [remote.code, remote.out])
  return remote
}

t.test('nothing differs', async (t) => {
  t.match(await compared(), { code: 0, out: /^no Seat would change for 0 users who signed in\n$/ })
  const ann = await scim.user('ann')
  await scim.group('Viewer', [ann])
  await signIn('ann', [viewer])
  t.match(await compared(), { code: 0, out: /^no Seat would change for 1 user who signed in\n$/ })
  await scim.group('No Seat', [ann])
  t.equal((await compared()).code, 0, 'a group that is no Seat gives nothing')
})

t.test('who gains, who loses, whom SCIM does not know, and who never signed in', async (t) => {
  const [ben, cid] = [await scim.user('ben'), await scim.user('cid', { active: false })]
  await scim.group('Editor', [ben, cid])
  await signIn('ben', [viewer], true)
  await signIn('cid', [editor])
  await signIn('dan', [viewer, editor])
  await signIn('eve', [])
  await scim.user('fay')
  const { code, out } = await compared()
  t.equal(code, 3)
  t.equal(
    out,
    [
      '3 of 5 users who signed in would have other Seats',
      '  ben ben@x.example: + Editor  - Viewer  (the provider left groups out at the sign-in)',
      '  cid cid@x.example: - Editor  (not active)',
      '  dan dan@x.example: - Editor  - Viewer  (unknown to SCIM)',
      'SCIM does not know 2 users who signed in',
      '  dan',
      '  eve',
      '1 SCIM user did not sign in',
      '  fay: no Seat',
      '',
    ].join('\n'),
  )
  const json = JSON.parse((await compared('--json')).out)
  t.match(json, {
    users: 5,
    differing: [
      { sub: 'ben', gains: ['Editor'], loses: ['Viewer'], scim: 'active', groups_left_out: true },
      { sub: 'cid', gains: [], loses: ['Editor'], scim: 'inactive' },
      { sub: 'dan', gains: [], loses: ['Editor', 'Viewer'], scim: 'unknown' },
    ],
    unknown: ['dan', 'eve'],
    unseen: [{ user_name: 'fay', active: true, by_groups: [] }],
  })
})

t.test('pages of the API', async (t) => {
  for (const [path, last] of [
    ['comparison', 'sub'],
    ['unseen-users', 'id'],
  ] as const) {
    const all = (await world.admin('GET', `/v1/scim/${path}?limit=100`)).json.data
    const found: unknown[] = []
    let after = ''
    for (let more = true; more;) {
      const { json } = await world.admin('GET', `/v1/scim/${path}?limit=1${after}`)
      found.push(...json.data)
      more = json.has_more
      after = `&after=${json.data.at(-1)?.[last]}`
    }
    t.same(found, all, path)
    t.ok(all.length > 0)
  }
})

t.test('outside the admin space, and without SCIM', async (t) => {
  await world.seat('reader', ['s1'], ['users:list'])
  const token = await world.token(['s1:reader'])
  const { json } = await world.client.send('GET', '/v1/scim/comparison', {
    authorization: `Bearer ${token}`,
    space: 's1',
  })
  t.match(json, { data: [], has_more: false })
  t.match(await run(['scim', 'compare', '--tenant', 'acme', '--url', 'http://127.0.0.1:1']), { code: 2 })
})
