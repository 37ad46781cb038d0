/** A sign-in at a gateway whose lease on its memory has lapsed. */

import t from 'tap'
import { done, writer } from '../seats-admin/store/conformance.ts'
import { open } from '../seats-admin/store/sqlite/support.ts'
import { holdReadings } from '../support/held-lease.ts'
import { metric } from '../support/operations.ts'
import { until } from '../support/until.ts'
import { startSignIn } from './world.ts'

t.test('a user who was blocked elsewhere meanwhile does not sign in', async (t) => {
  const world = await startSignIn(t)
  world.user('mallory', {})
  t.equal((await world.visitor('mallory').signIn()).status, 200, 'memory has the blocks of the tenant')
  const visitor = world.visitor('mallory')
  const callback = (await visitor.answer()).href

  await holdReadings(t)
  await until(async () => (await metric(world.gateway, 'seatgate_lease_live')) === 0, 'the end of the lease')
  const store = await open(t, { path: world.gateway.storeFile })
  done(await store.createBlock(writer(), { user: 'mallory', until: null, reason: null }))

  const answer = await visitor.send(callback)
  t.match([answer.status, answer.json.code], [403, 'caller_blocked'])
})
