/** Lock waits: sign-ins wait only for their own session, and other calls never wait for sign-ins. */

import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../../seats-admin/index.ts'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { until } from '../../../support/until.ts'
import { done, writer } from '../conformance.ts'
import { revoke } from '../revocation-conformance.ts'
import {
  atOnce,
  browserSession,
  family,
  fedSessions,
  hash,
  NOW,
  proofOf,
  provider,
  RENEWAL,
  same,
} from '../session-records.ts'
import { connected, databaseOf, emptyDatabase, open } from './support.ts'

const server = await startPostgres(t, { fsync: false })
const seat = (name: string) => ({ name, spaces: [], permissions: [] })

/** Runs statements in another transaction; returns a function that commits it. */
async function beginTransaction(t: Test, url: string, script: string): Promise<() => Promise<void>> {
  const client = await connected(t, url)
  await client.query(`BEGIN; ${script}`)
  return async () => void (await client.query('COMMIT'))
}

/** Locks rows, as an administrator may with psql. Returns a function that releases them. */
function lockRows(t: Test, url: string, rows: string): Promise<() => Promise<void>> {
  return beginTransaction(t, url, `SELECT * FROM ${rows} FOR UPDATE`)
}

/** Another gateway's change of the handle, not yet committed. */
function changeHandle(
  t: Test,
  url: string,
  id: string,
  handle: Uint8Array | null,
): Promise<() => Promise<void>> {
  const hex = Buffer.from(handle ?? []).toString('hex')
  return beginTransaction(t, url, `UPDATE sessions SET handle_hash = '\\x${hex}' WHERE id = '${id}'`)
}

async function waiting(url: string, count: number): Promise<void> {
  const query = `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'`
  await until(
    async () => (await server.query(query, [databaseOf(url)])).length >= count,
    () => `less than ${count} wait for a lock`,
  )
}

t.test('while another transaction holds the write lock', async (t) => {
  const url = await emptyDatabase(server)
  const { sessions } = await open(t, { url })
  const hasty = (await open(t, { url, timeout: 1000 })).sessions
  const [browser, program, over] = [browserSession(), family(), family()]
  for (const each of [browser, program, over, family({ expiresAt: NOW - 1 })]) await sessions.create(each)
  await sessions.end('acme', over.id, NOW)
  const release = await lockRows(t, url, 'counter')

  await sessions.create(browserSession())
  t.equal((await sessions.readSession('acme', browser.id)).value?.endedAt, null)
  const next = hash()
  const rotate = async (id: string, handle: Uint8Array | null, now = NOW, familyHash = program.familyHash) =>
    (await sessions.rotate(provider(now), id, proofOf({ ...program, familyHash, handleHash: handle }), next))
      .outcome
  t.equal(await rotate(program.id, program.handleHash), 'rotated')
  t.equal(await rotate(program.id, program.handleHash, NOW, hash()), 'unknown')
  t.equal(await rotate(program.id, program.handleHash, program.expiresAt), 'expired')
  t.equal(await rotate('absent', program.handleHash), 'unknown')
  t.equal(await rotate(over.id, over.handleHash, NOW, over.familyHash), 'ended')
  t.equal(await sessions.giveBack('acme', program.id, next, program.handleHash, null), true)
  t.ok(await sessions.claimRenewal('acme', browser.id, NOW, NOW + 1))
  t.equal(await sessions.giveBack('acme', browser.id, null, null, browser.sealed), true)
  t.equal(await sessions.prune(NOW, 10), 1)

  const announced = await Promise.allSettled([
    hasty.end('acme', browser.id, NOW),
    hasty.renew('acme', browser.id, null, RENEWAL),
    hasty.rotate(provider(), program.id, { ...proofOf(program), handle: hash() }, next),
  ])
  for (const each of announced)
    t.ok(each.status === 'rejected' && each.reason instanceof StoreUnavailable, JSON.stringify(each))
  same(t, await sessions.sessionById('acme', browser.id), browser)
  same(t, await sessions.sessionById('acme', program.id), program)

  await release()
  t.equal(await rotate(program.id, hash()), 'replayed', 'works again at once')
  t.ok(await sessions.end('acme', browser.id, NOW))
})

t.test('while many sign-ins wait, Seats are written and sessions are read', async (t) => {
  const url = await emptyDatabase(server)
  const store = await open(t, { url })
  const { sessions } = store
  const [stuck, free] = [browserSession(), browserSession()]
  for (const each of [stuck, free]) await sessions.create(each)
  const release = await lockRows(t, url, `sessions WHERE id = '${stuck.id}'`)
  const settled: string[] = []
  const note = (what: string) => () => settled.push(what)
  const claims = Array.from({ length: 50 }, () => sessions.claimRenewal('acme', stuck.id, NOW, NOW + 1))
  const creations = Array.from({ length: 50 }, () => sessions.create(browserSession()))
  const signIns = [...claims, ...creations].map((each) => each.then(note('flood')))
  await waiting(url, 2)

  done(await store.createSeat(writer(), seat('A')))
  t.ok(await sessions.end('acme', free.id, NOW))
  t.equal((await sessions.readSession('acme', stuck.id)).value?.endedAt, null)
  same(t, await sessions.sessionById('acme', stuck.id), stuck)
  t.strictSame(settled, [], 'all sign-ins still wait')

  await release()
  await Promise.all(signIns)
  t.equal((await Promise.all(claims)).filter((claim) => claim !== null).length, 1)
})

t.test('a handle whose return is being committed is no replay', async (t) => {
  const url = await emptyDatabase(server)
  const store = await open(t, { url })
  const session = family()
  await store.sessions.create({ ...session, handleHash: hash() })
  const commit = await changeHandle(t, url, session.id, session.handleHash)
  const next = hash()
  const rotation = store.sessions.rotate(provider(), session.id, proofOf(session), next)
  await waiting(url, 1)
  await commit()
  t.equal((await rotation).outcome, 'rotated')
  same(t, await store.sessions.sessionById('acme', session.id), { ...session, handleHash: next })
  t.strictSame(await fedSessions(store), [])
})

t.test('a renewal for a handle whose use is being committed has no effect', async (t) => {
  const url = await emptyDatabase(server)
  const store = await open(t, { url })
  const [session, next] = [family(), hash()]
  await store.sessions.create(session)
  const commit = await changeHandle(t, url, session.id, next)
  const renewal = store.sessions.renew('acme', session.id, session.handleHash, RENEWAL)
  await waiting(url, 1)
  await commit()
  t.equal(await renewal, null)
  same(t, await store.sessions.sessionById('acme', session.id), { ...session, handleHash: next })
  t.strictSame(await fedSessions(store), [])
})

t.test('prune skips locked sessions', async (t) => {
  const url = await emptyDatabase(server)
  const { sessions } = await open(t, { url })
  const old = Array.from({ length: 5 }, (_, at) => family({ expiresAt: NOW - 10 + at }))
  for (const each of old) await sessions.create(each)
  const release = await lockRows(t, url, `sessions WHERE id = '${old[0]?.id}'`)
  t.equal(await sessions.prune(NOW, 10), 4)
  await release()
  t.equal(await sessions.prune(NOW, 10), 1)
})

t.test('many concurrent calls on a few sessions all succeed, without a deadlock', async (t) => {
  const url = await emptyDatabase(server)
  const [one, other] = [await open(t, { url }), await open(t, { url })]
  const few = [family(), family(), browserSession(), family({ expiresAt: NOW - 1 })]
  for (const each of few) await one.sessions.create(each)
  const keys: string[] = []
  for (const owner of [few[0]?.user ?? '', 'ann']) {
    const made = await one.createApiKey(writer(), { name: 'k', seats: [], expiresAt: null, owner })
    keys.push(done(made).value.id)
  }
  const any = (at: number) => few[at % few.length] ?? family()
  const answers = await atOnce([one, other], 280, async (store, at) => {
    const { sessions } = store
    const session = any(at >> 3)
    const { id, handleHash } = session
    const calls = [
      () => sessions.rotate(provider(), id, { ...proofOf(session), handle: hash() }, hash()),
      () => sessions.rotate(provider(), id, proofOf(session), hash()),
      () => sessions.giveBack('acme', id, handleHash, handleHash, 'x'),
      () => sessions.claimRenewal('acme', id, NOW, NOW + at),
      () => sessions.renew('acme', id, handleHash, RENEWAL),
      () => sessions.end('acme', id, NOW),
      () => sessions.prune(NOW - 10, 5),
      () => store.createSeat(writer(), seat(`s${at}`)),
      () => store.createApiKey(writer(), { name: 'k', seats: [], expiresAt: null, owner: session.user }),
      () => store.recordKeyUse(keys.map((each) => ({ tenant: 'acme', id: each, at }))),
      () =>
        revoke(store, at % 4 === 3 ? { tenant: true } : { user: session.user }, { apiKeys: at % 4 === 3 }),
    ]
    return calls[at % calls.length]?.()
  })
  t.equal(answers.length, 280, 'no call was refused')
  const named = await fedSessions(one)
  for (const { id } of few) {
    t.ok((await one.sessions.sessionById('acme', id))?.endedAt)
    t.ok(named.includes(id))
  }
})
