/** The connection breaks after the write of a session: the repeated call recognizes its own effect. */

import type { Test } from 'tap'
import { type Store, StoreUnavailable } from '../../../../seats-admin/index.ts'
import type { PostgresServer } from '../../../support/servers/postgres.ts'
import { startTcpProxy } from '../../../support/servers/proxy.ts'
import { until } from '../../../support/until.ts'
import {
  browserSession,
  family,
  hash,
  NOW,
  proofOf,
  provider,
  same,
  sessionCalls,
} from '../session-records.ts'
import { connected, databaseOf, emptyDatabase, open, openEmpty } from './support.ts'

export function sessionFaults(t: Test, server: PostgresServer): void {
  /**
   * A store whose next call takes effect without a response: the table is locked until the call waits for it, and once its
   * effect is visible, the connection is reset.
   */
  async function losing(t: Test) {
    const proxy = await startTcpProxy(t, server)
    const url = await emptyDatabase(server)
    const store = await open(t, { url: url.replace(`:${server.port}/`, `:${proxy.port}/`) })
    const query = (text: string) => server.query(text, [], databaseOf(url))
    const locker = await connected(t, url)
    const answerOf = async <V>(call: () => Promise<V>, seen: string): Promise<V> => {
      await locker.query('BEGIN; LOCK TABLE seatgate.sessions IN SHARE MODE')
      const answer = call()
      const waits = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'seatgate.sessions'::regclass`
      await until(async () => (await query(waits)).length > 0, 'a call that waits')
      proxy.freeze()
      await locker.query('COMMIT')
      await until(
        async () => (await query(`SELECT 1 FROM seatgate.sessions WHERE ${seen}`)).length > 0,
        'the effect of the call',
      )
      proxy.killConnections()
      await proxy.heal()
      return answer
    }
    return { store, answerOf }
  }

  t.test('a handle used up by the lost call is not a replay', async (t) => {
    const { store, answerOf } = await losing(t)
    const { created, has, use } = sessionCalls(t, store)
    const session = await created(family())
    const next = hash()
    const rotation = await answerOf(
      () => store.sessions.rotate(provider(), session.id, proofOf(session), next),
      `handle_hash = '\\x${Buffer.from(next).toString('hex')}'`,
    )
    t.equal(rotation.outcome, 'rotated')
    await has(session, { handleHash: next })
    t.equal(await use(session), 'replayed', 'the second use is still a replay')
  })

  t.test('a session created by the lost call exists', async (t) => {
    const { store, answerOf } = await losing(t)
    const session = browserSession()
    await answerOf(() => store.sessions.create(session), `id = '${session.id}'`)
    same(t, await store.sessions.sessionById('acme', session.id), session)
  })

  t.test('a claim taken by the lost call blocks all others until it expires', async (t) => {
    const { store, answerOf } = await losing(t)
    const session = browserSession()
    await store.sessions.create(session)
    const claim = () => store.sessions.claimRenewal('acme', session.id, NOW, NOW + 1000)
    t.equal(await answerOf(claim, `claimed_until = ${NOW + 1000}`), null)
    t.ok(await store.sessions.claimRenewal('acme', session.id, NOW + 1000, NOW + 2000))
  })

  /** One call of each kind. */
  function calls({ sessions }: Store, id: string): Promise<unknown>[] {
    return [
      sessions.create(browserSession()),
      sessions.readSession('acme', id),
      sessions.sessionById('acme', id),
      sessions.rotate(provider(), id, proofOf(family()), hash()),
      sessions.giveBack('acme', id, hash(), hash(), null),
      sessions.claimRenewal('acme', id, NOW, NOW),
      sessions.end('acme', id, NOW),
      sessions.prune(0, 1),
    ]
  }

  t.test('without the server each call fails as unavailable, and works again afterwards', async (t) => {
    const store = await openEmpty(t, server)
    await Promise.all(calls(store, 'x'))
    await server.stop()
    for (const each of await Promise.allSettled(calls(store, 'x')))
      t.ok(each.status === 'rejected' && each.reason instanceof StoreUnavailable, JSON.stringify(each))
    await server.restart()
    await until(
      async () => (await Promise.allSettled(calls(store, 'x'))).every(({ status }) => status === 'fulfilled'),
      'the recovery of the store',
    )
  })
}
