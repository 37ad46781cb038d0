/** A refresh handle that comes again ends the whole session: whoever has the other one of them has it in vain. */

import t from 'tap'
import { startWorld } from './world.ts'

t.test('after its rotation, by the thief', async (t) => {
  const world = await startWorld(t)
  world.user('alice', {})
  const browser = world.browser()
  const stolen = (await world.signIn(browser)).json.refresh_token
  const honest = await world.refresh(browser, stolen)
  const asked = world.acme.count('/token')
  world.announced.splice(0)
  t.match((await world.refresh(world.browser('mallory'), stolen)).json, {
    status: 401,
    code: 'token_invalid',
  })
  t.equal((await world.refresh(browser, honest.json.refresh_token)).status, 401, 'the good one is dead too')
  t.equal(world.acme.count('/token'), asked, 'the provider was not asked')
  t.match(world.events('refresh_replayed'), [{ level: 'warn', tenant: 'acme', session: String }])
  t.equal(world.announced.length, 1, 'announced to every instance')
})

t.test('before its rotation, by the thief: the honest client finds out', async (t) => {
  const world = await startWorld(t)
  world.user('alice', {})
  const browser = world.browser()
  const stolen = (await world.signIn(browser)).json.refresh_token
  const thief = await world.refresh(world.browser('mallory'), stolen)
  t.equal(thief.status, 200, 'nobody can know yet')
  t.equal((await world.refresh(browser, stolen)).status, 401)
  t.equal((await world.refresh(world.browser('mallory'), thief.json.refresh_token)).status, 401)
})

t.test('an old one, many rotations later', async (t) => {
  const world = await startWorld(t)
  world.user('alice', {})
  const browser = world.browser()
  const first = (await world.signIn(browser)).json.refresh_token
  let handle = first
  for (let i = 0; i < 5; i++) handle = (await world.refresh(browser, handle)).json.refresh_token
  t.equal((await world.refresh(browser, first)).status, 401)
  t.equal((await world.refresh(browser, handle)).status, 401)
})

t.test('at the same time: at most one is served, and the family is over', async (t) => {
  const world = await startWorld(t)
  world.user('alice', {})
  const browser = world.browser()
  const handle = (await world.signIn(browser)).json.refresh_token
  const asked = world.acme.count('/token')
  const pages = await Promise.all(Array.from({ length: 10 }, () => world.refresh(world.browser(), handle)))
  t.ok(pages.filter(({ status }) => status === 200).length <= 1)
  t.equal(world.acme.count('/token') - asked, 1, 'the provider was asked once')
  for (const { json } of pages)
    if (json.refresh_token !== undefined)
      t.equal((await world.refresh(browser, json.refresh_token)).status, 401)
  t.equal((await world.refresh(browser, handle)).status, 401)
})

t.test('other sessions of the user go on', async (t) => {
  const world = await startWorld(t)
  world.user('alice', {})
  const [one, other] = [world.browser(), world.browser()]
  const replayed = (await world.signIn(one)).json.refresh_token
  const kept = (await world.signIn(other)).json.refresh_token
  await world.refresh(one, replayed)
  await world.refresh(one, replayed)
  t.equal((await world.refresh(other, kept)).status, 200)
})
