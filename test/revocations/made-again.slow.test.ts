/** Revocations that receipts make again while a gateway runs: what is open is cut by each of them. */

import t from 'tap'
import { storeOf } from '../decision/revoking.ts'
import { ADMIN, done, writer } from '../seats-admin/store/conformance.ts'
import { startWorld } from '../support/world.ts'
import { HELD_ROUTES, openHeld, serveEvents } from '../websocket/held.ts'
import { startWebSocketUpstream } from '../websocket/support.ts'

const upstream = await startWebSocketUpstream(t, { serve: serveEvents })
const world = await startWorld(t, { routes: HELD_ROUTES, target: upstream.url })
const { store } = await storeOf(t, world)

t.test('several in one transaction', async (t) => {
  const issued = Date.now() - 60_000
  const open = async (sub: string) =>
    openHeld(world.port, [`Authorization: Bearer ${await world.token([], { sub, now: issued })}`], '/me')
  const [eve, bob, ann] = [await open('eve'), await open('bob'), await open('ann')]
  const receipts = ['eve', 'bob'].map((user, at) => ({
    ...{
      id: `01JZ00000000000000000000${at}0`,
      at: issued + 30_000,
      subject: { user },
      what: 'existing' as const,
    },
    ...{ until: null, reason: null, apiKeys: false, keptKey: null, answer: '{}' },
  }))
  done(await store.applyReceipts(writer(ADMIN, Date.now()), receipts))
  await eve.cut(t, 'token_revoked')
  await bob.cut(t, 'token_revoked')
  await ann.staysOpen(t)
})
