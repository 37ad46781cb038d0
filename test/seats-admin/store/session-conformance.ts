/**
 * Requirements of every session store, one by one: `seats-admin/store/session-store.ts`. The test of each driver runs
 * them on the real store.
 */

import type { Test } from 'tap'
import { sessionEnds } from './session-ends.ts'
import {
  bytes,
  browserSession,
  family,
  hash,
  HOUR,
  NOW,
  proofOf,
  RENEWAL,
  same,
  announced,
  type StoreUnderTest,
} from './session-records.ts'

/** @param open opens a new, empty store, which is closed with the test */
export function sessionStoreConformance(t: Test, open: (t: Test) => Promise<StoreUnderTest>): void {
  t.test('a session is read as it was created', async (t) => {
    const { sessions } = await open(t)
    const all = [
      browserSession(),
      browserSession({ providerSession: hash(), createdAt: null }),
      family(),
      browserSession({ email: null, name: null, hashPerm: [], user: 'a'.repeat(255) }),
      browserSession({
        sealed: 's'.repeat(100_000),
        hashPerm: Array.from({ length: 5000 }, (_, i) => `s:${i}`),
      }),
    ]
    for (const each of all) await sessions.create(each)
    for (const each of all) {
      same(t, await sessions.sessionById('acme', each.id), each)
      const { value } = await sessions.readSession('acme', each.id)
      t.match(value, { id: each.id, tenant: 'acme', user: each.user, renewAt: each.renewAt, endedAt: null })
      t.equal(bytes(value?.cookieHash), bytes(each.cookieHash))
      t.same(value?.hashPerm, each.hashPerm)
    }
  })

  t.test('any text of an identity provider is stored unchanged', async (t) => {
    const { sessions } = await open(t)
    const texts = ['', '\0', 'a\0b', '\ud800', 'x\udc00y', '\ufffd', '"\\\n\u2028', '😀', 'null', '\ufeff ']
    for (const text of texts) {
      const claims = { user: text, email: text, name: text }
      const session = family({ ...claims, hashPerm: [text, `${text}:${text}`] })
      await sessions.create(session)
      same(t, await sessions.sessionById('acme', session.id), session)
      const { value } = await sessions.readSession('acme', session.id)
      t.strictSame([value?.user, value?.email], [text, text])
      const renewal = { ...RENEWAL, email: text, name: text }
      await sessions.renew('acme', session.id, session.handleHash, renewal)
      same(t, await sessions.sessionById('acme', session.id), { ...session, ...renewal })
    }
  })

  t.test('any text may be the id of a lookup without a result', async (t) => {
    const { sessions } = await open(t)
    for (const id of ['', '\0', 'a\0b', '\ud800', "' OR 1=1 --", 'x'.repeat(100_000)]) {
      t.equal(await sessions.sessionById('acme', id), null)
      t.equal((await sessions.readSession('acme', id)).value, null)
      t.equal((await sessions.rotate('acme', id, proofOf(family()), hash(), NOW)).outcome, 'unknown')
      t.equal(await sessions.claimRenewal('acme', id, NOW, NOW + 1), null)
      t.equal(await sessions.giveBack('acme', id, null, null, 'x'), false)
      t.equal(await sessions.renew('acme', id, null, RENEWAL), null)
      t.equal(await sessions.end('acme', id, NOW), null)
    }
  })

  t.test('tenants are separate', async (t) => {
    const { sessions } = await open(t)
    const session = family()
    await sessions.create(session)
    t.equal(await sessions.sessionById('globex', session.id), null)
    t.equal((await sessions.readSession('globex', session.id)).value, null)
    t.equal(await sessions.end('globex', session.id, NOW), null)
    t.equal((await sessions.rotate('globex', session.id, proofOf(session), hash(), NOW)).outcome, 'unknown')
    t.equal(await sessions.claimRenewal('globex', session.id, NOW, NOW + 1), null)
    t.equal(await sessions.giveBack('globex', session.id, session.handleHash, hash(), null), false)
    t.equal(await sessions.renew('globex', session.id, session.handleHash, RENEWAL), null)
    await sessions.create({ ...browserSession(), id: session.id, tenant: 'globex' })
    same(t, await sessions.sessionById('acme', session.id), session)
  })

  t.test('an id can be used once', async (t) => {
    const { sessions } = await open(t)
    const session = browserSession()
    await sessions.create(session)
    await t.rejects(sessions.create({ ...browserSession(), id: session.id }))
    same(t, await sessions.sessionById('acme', session.id), session)
  })

  t.test('rotate: a handle is valid once', async (t) => {
    const { sessions } = await open(t)
    const session = family()
    await sessions.create(session)
    const next = hash()
    const rotation = await sessions.rotate('acme', session.id, proofOf(session), next, NOW)
    t.equal(rotation.outcome, 'rotated')
    if (rotation.outcome === 'rotated') same(t, rotation.session, { ...session, handleHash: next })
    same(t, await sessions.sessionById('acme', session.id), { ...session, handleHash: next })
    const onward = await sessions.rotate(
      'acme',
      session.id,
      { ...proofOf(session), handle: next },
      hash(),
      NOW,
    )
    t.equal(onward.outcome, 'rotated', 'and the next one is valid')
  })

  t.test('rotate: a used handle ends the family', async (t) => {
    const store = await open(t)
    const { sessions } = store
    const session = family()
    await sessions.create(session)
    const next = hash()
    await sessions.rotate('acme', session.id, proofOf(session), next, NOW)
    const replay = await sessions.rotate('acme', session.id, proofOf(session), hash(), NOW + 5)
    t.equal(replay.outcome, 'replayed')
    if (replay.outcome === 'replayed') await announced(t, store, replay.committed, session.id)
    const ended = await sessions.sessionById('acme', session.id)
    t.equal(ended?.endedAt, NOW + 5)
    t.equal(ended?.sealed, '', 'the tokens of the provider are removed')
    t.equal(ended?.sealed, '', 'as by `end`: the tokens of the provider are removed')
    for (const handle of [next, session.handleHash ?? hash()]) {
      const proof = { ...proofOf(session), handle }
      t.equal((await sessions.rotate('acme', session.id, proof, hash(), NOW + 6)).outcome, 'ended')
    }
  })

  t.test('rotate: of many concurrent uses exactly one succeeds, and the family ends', async (t) => {
    const { sessions } = await open(t)
    for (let round = 0; round < 10; round++) {
      const session = family()
      await sessions.create(session)
      const uses = Array.from({ length: 8 }, () =>
        sessions.rotate('acme', session.id, proofOf(session), hash(), NOW),
      )
      const outcomes = (await Promise.all(uses)).map(({ outcome }) => outcome).sort()
      t.same(outcomes, [...Array(6).fill('ended'), 'replayed', 'rotated'].sort())
      t.equal((await sessions.sessionById('acme', session.id))?.endedAt, NOW)
    }
  })

  t.test('rotate: a handle of another family changes nothing', async (t) => {
    const { sessions } = await open(t)
    const session = family()
    await sessions.create(session)
    const foreign = { family: hash(), handle: session.handleHash ?? hash() }
    t.equal((await sessions.rotate('acme', session.id, foreign, hash(), NOW)).outcome, 'unknown')
    t.equal((await sessions.rotate('acme', 'A'.repeat(22), proofOf(session), hash(), NOW)).outcome, 'unknown')
    const cookie = browserSession()
    await sessions.create(cookie)
    const proof = { family: cookie.cookieHash ?? hash(), handle: cookie.cookieHash ?? hash() }
    t.equal(
      (await sessions.rotate('acme', cookie.id, proof, hash(), NOW)).outcome,
      'unknown',
      'a browser session has no handle',
    )
    same(t, await sessions.sessionById('acme', session.id), session)
  })

  t.test('rotate: expired, also with a used handle, and at the exact time', async (t) => {
    const { sessions } = await open(t)
    const session = family({ expiresAt: NOW })
    await sessions.create(session)
    t.equal((await sessions.rotate('acme', session.id, proofOf(session), hash(), NOW)).outcome, 'expired')
    const proof = { ...proofOf(session), handle: hash() }
    t.equal((await sessions.rotate('acme', session.id, proof, hash(), NOW)).outcome, 'expired')
    same(t, await sessions.sessionById('acme', session.id), session)
  })

  t.test('giveBack: the handle is valid again, once', async (t) => {
    const { sessions } = await open(t)
    const session = family()
    await sessions.create(session)
    const next = hash()
    await sessions.rotate('acme', session.id, proofOf(session), next, NOW)
    t.equal(await sessions.giveBack('acme', session.id, next, session.handleHash, 'sealed again'), true)
    same(t, await sessions.sessionById('acme', session.id), { ...session, sealed: 'sealed again' })
    t.equal(
      await sessions.giveBack('acme', session.id, next, session.handleHash, 'no'),
      false,
      'no longer the current handle',
    )
    t.equal(await sessions.giveBack('acme', session.id, null, null, 'no'), false, 'a family has a handle')
    t.equal((await sessions.sessionById('acme', session.id))?.sealed, 'sealed again')
    t.equal((await sessions.rotate('acme', session.id, proofOf(session), hash(), NOW)).outcome, 'rotated')
  })

  t.test('giveBack: never to a family that was ended', async (t) => {
    const { sessions } = await open(t)
    const session = family()
    await sessions.create(session)
    const next = hash()
    await sessions.rotate('acme', session.id, proofOf(session), next, NOW)
    await sessions.rotate('acme', session.id, proofOf(session), hash(), NOW)
    t.equal(await sessions.giveBack('acme', session.id, next, session.handleHash, null), false)
    t.equal((await sessions.rotate('acme', session.id, proofOf(session), hash(), NOW)).outcome, 'ended')
  })

  t.test('claimRenewal: one at a time', async (t) => {
    const { sessions } = await open(t)
    const session = browserSession()
    await sessions.create(session)
    const claims = Array.from({ length: 8 }, () => sessions.claimRenewal('acme', session.id, NOW, NOW + 1000))
    const won = (await Promise.all(claims)).filter((claim) => claim !== null)
    t.equal(won.length, 1)
    same(t, won[0] ?? null, session)
    t.equal(await sessions.claimRenewal('acme', session.id, NOW + 999, NOW + 2000), null)
    t.ok(await sessions.claimRenewal('acme', session.id, NOW + 1000, NOW + 2000), 'once it has expired')
    t.equal(await sessions.giveBack('acme', session.id, null, null, 'newer'), true)
    const again = await sessions.claimRenewal('acme', session.id, NOW + 1000, NOW + 2000)
    t.equal(again?.sealed, 'newer', 'or was given back')
    await sessions.renew('acme', session.id, null, RENEWAL)
    t.ok(await sessions.claimRenewal('acme', session.id, NOW + 1000, NOW + 2000), 'or used')
  })

  t.test('claimRenewal: not of an ended or expired session', async (t) => {
    const { sessions } = await open(t)
    const [ended, expired] = [browserSession(), browserSession({ expiresAt: NOW })]
    await sessions.create(ended)
    await sessions.create(expired)
    await sessions.end('acme', ended.id, NOW)
    t.equal(await sessions.claimRenewal('acme', ended.id, NOW, NOW + 1), null)
    t.equal(await sessions.claimRenewal('acme', expired.id, NOW, NOW + 1), null)
    t.equal(await sessions.claimRenewal('acme', 'A'.repeat(22), NOW, NOW + 1), null)
  })

  t.test('renew: for the current handle, with a row in the feed', async (t) => {
    const store = await open(t)
    const { sessions } = store
    for (const session of [family(), browserSession()]) {
      await sessions.create(session)
      t.equal(await sessions.renew('acme', session.id, hash(), RENEWAL), null, 'another handle')
      if (session.handleHash !== null) t.equal(await sessions.renew('acme', session.id, null, RENEWAL), null)
      same(t, await sessions.sessionById('acme', session.id), session)
      const committed = await sessions.renew('acme', session.id, session.handleHash, RENEWAL)
      await announced(t, store, committed, session.id)
      same(t, await sessions.sessionById('acme', session.id), { ...session, ...RENEWAL })
      await sessions.end('acme', session.id, NOW)
      t.equal(
        await sessions.renew('acme', session.id, session.handleHash, RENEWAL),
        null,
        'never an ended session',
      )
    }
  })

  t.test('end: at once, permanently, and announced each time', async (t) => {
    const store = await open(t)
    const { sessions } = store
    const session = browserSession()
    await sessions.create(session)
    await announced(t, store, await sessions.end('acme', session.id, NOW), session.id)
    t.equal((await sessions.readSession('acme', session.id)).value?.endedAt, NOW)
    await announced(t, store, await sessions.end('acme', session.id, NOW + 5), session.id)
    const ended = await sessions.sessionById('acme', session.id)
    t.equal(ended?.endedAt, NOW, 'the time of the first end stays')
    t.equal(ended?.sealed, '', 'the tokens of the provider are removed')
    t.equal(await sessions.end('acme', 'A'.repeat(22), NOW), null)
  })

  t.test('end and readSession: the reading is not older than the change', async (t) => {
    const { sessions } = await open(t)
    const session = browserSession()
    await sessions.create(session)
    const before = await sessions.readSession('acme', session.id)
    const committed = await sessions.end('acme', session.id, NOW)
    const after = await sessions.readSession('acme', session.id)
    t.ok(committed !== null && before.seq < committed.seq && after.seq >= committed.seq)
    t.equal(after.value?.endedAt, NOW)
  })

  t.test('the feed contains changes that affect memory, and no others', async (t) => {
    const { sessions, feed } = await open(t)
    const [browser, program] = [browserSession(), family()]
    const wrong = { ...proofOf(program), family: hash() }
    const next = hash()
    await sessions.create(browser)
    await sessions.create(program)
    await sessions.create(browserSession({ expiresAt: NOW - 1 }))
    await sessions.rotate('acme', program.id, proofOf(program), next, NOW)
    await sessions.rotate('acme', program.id, wrong, hash(), NOW)
    await sessions.rotate('acme', program.id, proofOf(program), hash(), program.expiresAt)
    await sessions.giveBack('acme', program.id, next, program.handleHash, null)
    await sessions.claimRenewal('acme', browser.id, NOW, NOW + 1)
    await sessions.giveBack('acme', browser.id, null, null, 'x')
    await sessions.renew('acme', browser.id, hash(), RENEWAL)
    await sessions.end('acme', 'A'.repeat(22), NOW)
    await sessions.prune(NOW, 10)
    if (feed !== null) t.same(await feed(), [])
    await sessions.renew('acme', browser.id, null, RENEWAL)
    await sessions.rotate('acme', program.id, { ...proofOf(program), handle: hash() }, hash(), NOW)
    await sessions.rotate('acme', program.id, proofOf(program), hash(), NOW)
    await sessions.end('acme', browser.id, NOW)
    if (feed !== null) t.same(await feed(), [browser.id, program.id, browser.id])
    const { value } = await sessions.readSession('acme', program.id)
    t.equal(value?.endedAt, NOW)
  })

  sessionEnds(t, open)

  t.test('prune: expired sessions, ended or not, in limited batches', async (t) => {
    const { sessions } = await open(t)
    const [old, older, ended, live] = [
      browserSession({ expiresAt: NOW - 1 }),
      family({ expiresAt: NOW - HOUR, tenant: 'globex' }),
      browserSession({ expiresAt: NOW + HOUR }),
      browserSession({ expiresAt: NOW }),
    ]
    for (const each of [old, older, ended, live]) await sessions.create(each)
    await sessions.end('acme', ended.id, NOW - HOUR)
    t.equal(await sessions.prune(NOW, 1), 1)
    t.equal(await sessions.prune(NOW, 10), 1)
    t.equal(await sessions.prune(NOW, 10), 0)
    t.equal(await sessions.sessionById('acme', old.id), null)
    t.equal(await sessions.sessionById('globex', older.id), null)
    t.ok(await sessions.sessionById('acme', ended.id), 'an ended session stays until it would have expired')
    t.ok(await sessions.sessionById('acme', live.id))
  })
}
