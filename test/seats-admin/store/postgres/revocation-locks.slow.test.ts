/** Revocations beside sign-ins and renewals that are in flight: each session is before the revocation or after it. */

import t, { type Test } from 'tap'
import type { Store } from '../../../../seats-admin/index.ts'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { until } from '../../../support/until.ts'
import { done, writer } from '../conformance.ts'
import { inputOf, many, revoke } from '../revocation-conformance.ts'
import { browserSession, family, hash, NOW, proofOf, provider, RENEWAL } from '../session-records.ts'
import { connected, databaseOf, emptyDatabase, open } from './support.ts'

const server = await startPostgres(t, { fsync: false })

/** An insertion of a session waits while there is a row. */
const HOLD_CREATIONS = `CREATE TABLE held (now integer); INSERT INTO held VALUES (1);
  CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql
    AS $$BEGIN WHILE EXISTS (SELECT 1 FROM held) LOOP PERFORM pg_sleep(0.01); END LOOP; RETURN NEW; END$$;
  CREATE TRIGGER wait BEFORE INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION wait()`

async function started(t: Test) {
  const url = await emptyDatabase(server)
  const [store, other] = [await open(t, { url }), await open(t, { url })]
  const administrator = await connected(t, url)
  const count = async (condition: string) => {
    const query = `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND ${condition}`
    return (await server.query(query, [databaseOf(url)])).length
  }
  return {
    ...{ store, other, url },
    run: async (script: string) => void (await administrator.query(script)),
    waiting: (most: number, what: string) =>
      until(async () => (await count(`wait_event_type = 'Lock'`)) >= most, what),
    asleep: (most: number) =>
      until(async () => (await count(`wait_event = 'PgSleep'`)) >= most, 'a creation'),
  }
}

/** Another transaction locks the API key, at which a revocation of its owner then waits. */
async function heldBefore(t: Test, { store, url }: { store: Store; url: string }, user: string) {
  const key = { name: 'k', seats: [], expiresAt: null, owner: user }
  const { id } = done(await store.createApiKey(writer(), key)).value
  const client = await connected(t, url)
  await client.query(`BEGIN; SELECT 1 FROM api_keys WHERE id = '${id}' FOR UPDATE`)
  return async () => void (await client.query('COMMIT'))
}

t.test('a sign-in whose creation is in flight has ended', async (t) => {
  const world = await started(t)
  await world.run(HOLD_CREATIONS)
  for (const subject of [{ user: 'eve' }, { tenant: true }] as const) {
    const session = browserSession({ user: 'eve' })
    const creation = world.store.sessions.create(session)
    await world.asleep(1)
    const revocation = revoke(world.other, subject)
    await world.waiting(1, 'the revocation')
    await world.run('DELETE FROM held')
    await creation
    t.same((await revocation).value.ended, { sessions: 1, apiKeys: 0 })
    t.match((await world.store.sessions.readSession('acme', session.id)).value, { revoked: true })
    await world.run('INSERT INTO held VALUES (1)')
  }
  const elsewhere = browserSession({ tenant: 'globex' })
  const creation = world.store.sessions.create(elsewhere)
  await world.asleep(1)
  await revoke(world.other, { tenant: true })
  t.pass('a revocation does not wait for sign-ins of another tenant')
  await world.run('DELETE FROM held')
  await creation
})

t.test('a sign-in during a revocation waits, and passes; those of other tenants do not wait', async (t) => {
  const world = await started(t)
  const release = await heldBefore(t, world, 'eve')
  const revocation = revoke(world.store, { user: 'eve' })
  await world.waiting(1, 'the revocation')
  // More than there are connections for sign-ins.
  const own = Array.from({ length: 10 }, () => browserSession({ user: 'eve' }))
  const creations = own.map((session) => world.other.sessions.create(session))
  await world.other.sessions.create(browserSession({ user: 'eve', tenant: 'globex' }))
  for (const { id } of own) t.equal(await world.store.sessions.sessionById('acme', id), null)
  await release()
  t.same((await revocation).value.ended, { sessions: 0, apiKeys: 1 })
  await Promise.all(creations)
  for (const { id } of own)
    t.match(await world.store.sessions.sessionById('acme', id), { endedAt: null, revoked: false })
})

t.test('calls on a session during its revocation find it revoked', async (t) => {
  const world = await started(t)
  const { sessions } = world.other
  // The first of many: they have ended as the others are read.
  const first = (at: number) => ({ user: 'eve', id: `-${at}`.padEnd(22, '-') })
  const [program, second, browser] = [family(first(1)), family(first(2)), browserSession(first(3))]
  await many(world.store, 250, 'eve')
  for (const each of [program, second, browser]) await sessions.create(each)
  const release = await heldBefore(t, world, 'eve')
  const revocation = revoke(world.store, { user: 'eve' })
  await world.waiting(1, 'the revocation')
  const calls = [
    sessions.rotate(provider(), program.id, proofOf(program), hash()).then(({ outcome }) => outcome),
    sessions.giveBack('acme', second.id, second.handleHash, hash(), 'x'),
  ]
  await world.waiting(3, 'the use of a handle, and its return')
  const others = [
    sessions.claimRenewal('acme', browser.id, NOW, NOW + 1),
    sessions.renew('acme', program.id, program.handleHash, RENEWAL),
  ]
  await world.waiting(4, 'the claim or the renewal')
  await release()
  t.same((await revocation).value.ended, { sessions: 253, apiKeys: 1 })
  t.same(await Promise.all(calls), ['revoked', false])
  t.same(await Promise.all(others), [null, null])
  for (const { id } of [program, second, browser])
    t.match(await sessions.sessionById('acme', id), { revoked: true, sealed: '' })
})

t.test('a use of a handle that is being committed', async (t) => {
  const world = await started(t)
  const session = family({ user: 'eve' })
  await world.store.sessions.create(session)
  const client = await connected(t, world.url)
  await client.query(`BEGIN; UPDATE sessions SET handle_hash = '\\x01' WHERE id = '${session.id}'`)
  const revocation = revoke(world.store, { user: 'eve' })
  await world.waiting(1, 'the revocation')
  await client.query('COMMIT')
  t.same((await revocation).value.ended, { sessions: 1, apiKeys: 0 })
  t.match(await world.store.sessions.sessionById('acme', session.id), { revoked: true })
})

t.test('an API key for a user during a revocation of the user: it is after it', async (t) => {
  const world = await started(t)
  const release = await heldBefore(t, world, 'eve')
  const revocation = revoke(world.store, { user: 'eve' })
  await world.waiting(1, 'the revocation')
  const key = { name: 'late', seats: [], expiresAt: null, owner: 'eve' }
  const creation = world.other.createApiKey(writer(), key)
  await world.waiting(2, 'the creation')
  await release()
  const [first, second] = [await revocation, done(await creation)]
  t.ok(first.seq < second.seq)
  t.equal((await world.store.apiKeyById('acme', second.value.id)).value?.revokedAt, null)
})

t.test('a revocation that waited: T is after the wait, by a clock that is ahead', async (t) => {
  const world = await started(t)
  const client = await connected(t, world.url)
  await client.query('BEGIN; SELECT 1 FROM counter FOR UPDATE')
  const now = Date.now() + 3_600_000
  const startedAt = Date.now()
  const revocation = world.store.revoke(writer(undefined, now), inputOf({ user: 'eve' }))
  await world.waiting(1, 'the revocation')
  const waited = Date.now() - startedAt
  await client.query('COMMIT')
  const { at } = done(await revocation).value
  t.ok(at >= now + waited - 1, `${at - now} ms, of ${waited}`)
})
