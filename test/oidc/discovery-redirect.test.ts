/**
 * A discovery document behind the redirect of a framework that appends or removes a trailing slash. The gateway
 * follows no other redirect.
 */

import t from 'tap'
import { HostileProvider } from './hostile-provider.ts'
import { freshWorld } from './world.ts'

const DISCOVERY = '/.well-known/openid-configuration'

t.test('a redirect to the same address with a trailing slash added or removed', async (t) => {
  for (const status of [301, 302, 303, 307, 308])
    for (const absolute of [true, false]) {
      const world = await freshWorld()
      const provider = await HostileProvider.start(t)
      const document = provider.answers.get(DISCOVERY)
      if (document === undefined) throw new Error('no discovery')
      provider.answers.set(`${DISCOVERY}/`, document)
      const location = `${absolute ? provider.issuer : ''}${DISCOVERY}/`
      provider.answers.set(DISCOVERY, () => ({ status, headers: { location }, body: '' }))
      await provider.takes(world)
      t.equal((await world.visitor().begin()).status, 200, `${status} ${location}`)
      const page = await provider.signIn(world)
      t.equal(page.status, 200)
    }
})

t.test('one redirect only', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  const redirect = (location: string) => () => ({ status: 301, headers: { location }, body: '' })
  provider.answers.set(DISCOVERY, redirect(`${DISCOVERY}/`))
  provider.answers.set(`${DISCOVERY}/`, redirect(DISCOVERY))
  await provider.takes(world)
  t.match((await world.visitor().begin()).json, { status: 503, code: 'unavailable' })
  t.equal(provider.count(DISCOVERY), 1)
  t.equal(provider.count(`${DISCOVERY}/`), 1)
})

t.test('a redirect to any other address', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  const elsewhere = await HostileProvider.start(t)
  const document = provider.answers.get(DISCOVERY)
  if (document === undefined) throw new Error('no discovery')
  const { host } = new URL(provider.issuer)
  const paths = [`${DISCOVERY}/`, `${DISCOVERY}//`, '/x', '/', '/.well-known/', `${DISCOVERY}/x`]
  for (const path of paths) {
    provider.answers.set(path, document)
    elsewhere.answers.set(path, document)
  }
  for (const location of [
    `${elsewhere.issuer}${DISCOVERY}/`,
    `http://user@${host}${DISCOVERY}/`,
    `http://localhost:${new URL(provider.issuer).port}${DISCOVERY}/`,
    `https://${host}${DISCOVERY}/`,
    `${DISCOVERY}//`,
    `${DISCOVERY}/?x`,
    `${DISCOVERY}/#x`,
    `${DISCOVERY}/x`,
    '/x',
    '',
    'http://[',
  ]) {
    provider.answers.set(DISCOVERY, () => ({ status: 302, headers: { location }, body: '' }))
    await provider.takes(world)
    t.match((await world.visitor().begin()).json, { status: 503, code: 'unavailable' }, location)
  }
  for (const path of paths) t.equal(provider.count(path), 0, path)
  t.equal(elsewhere.requestCounts.size, 0)
})
