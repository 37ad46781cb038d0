/** A replayed refresh handle ends the whole session, so that a stolen handle and its successor are both worthless. */

import t from 'tap'
import { announced, endedByProvider, freshWorld } from './world.ts'

t.test('the attacker replays the handle after its rotation', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const stolen = (await browser.signIn()).json.refresh_token
  const honest = await browser.refresh(stolen)
  const tokenRequests = world.acme.count('/token')
  const before = announced(world).length
  t.match((await world.visitor('mallory').refresh(stolen)).json, {
    status: 401,
    code: 'token_invalid',
  })
  t.equal((await browser.refresh(honest.json.refresh_token)).status, 401, 'the current handle is invalid too')
  t.equal(world.acme.count('/token'), tokenRequests, 'the provider received no request')
  t.match(world.events('refresh_replayed'), [
    { level: 'warn', tenant: 'acme', user: 'alice', session: String },
  ])
  t.match(await endedByProvider(t, world, 'refresh_replayed'), [{ target: { name: 'alice' } }])
  t.equal(announced(world).length - before, 1, 'the end is published to every instance')
})

t.test("the attacker uses the handle first, and the honest client's use detects it", async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const stolen = (await browser.signIn()).json.refresh_token
  const attacker = await world.visitor('mallory').refresh(stolen)
  t.equal(attacker.status, 200, 'not detectable yet')
  t.equal((await browser.refresh(stolen)).status, 401)
  t.equal((await world.visitor('mallory').refresh(attacker.json.refresh_token)).status, 401)
})

t.test('an old handle, many rotations later', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const first = (await browser.signIn()).json.refresh_token
  let handle = first
  for (let i = 0; i < 5; i++) handle = (await browser.refresh(handle)).json.refresh_token
  t.equal((await browser.refresh(first)).status, 401)
  t.equal((await browser.refresh(handle)).status, 401)
})

t.test('concurrent uses: at most one succeeds, and the session ends', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const handle = (await browser.signIn()).json.refresh_token
  const tokenRequests = world.acme.count('/token')
  const pages = await Promise.all(Array.from({ length: 10 }, () => world.visitor().refresh(handle)))
  t.ok(pages.filter(({ status }) => status === 200).length <= 1)
  t.equal(world.acme.count('/token') - tokenRequests, 1, 'the provider received one request')
  for (const { json } of pages)
    if (json.refresh_token !== undefined) t.equal((await browser.refresh(json.refresh_token)).status, 401)
  t.equal((await browser.refresh(handle)).status, 401)
  t.equal((await endedByProvider(t, world, 'refresh_replayed')).length, 1, 'one entry')
})

t.test('other sessions of the user stay valid', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const [one, other] = [world.visitor(), world.visitor()]
  const replayed = (await one.signIn()).json.refresh_token
  const kept = (await other.signIn()).json.refresh_token
  await one.refresh(replayed)
  await one.refresh(replayed)
  t.equal((await other.refresh(kept)).status, 200)
})
