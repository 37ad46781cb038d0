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
  RENEWAL,
  same,
  sessionTest,
  type StoreUnderTest,
} from './session-records.ts'

/** The id of no session. */
const ABSENT = { ...family(), id: 'A'.repeat(22) }

/** @param open gives each test an empty store */
export function sessionStoreConformance(t: Test, open: (t: Test) => Promise<StoreUnderTest>): void {
  const test = sessionTest(t, open)

  test('a session is read as it was created', async (t, { created, has, read }) => {
    const hashPerm = Array.from({ length: 5000 }, (_, i) => `s:${i}`)
    const all = [
      browserSession(),
      browserSession({ providerSession: hash(), createdAt: null }),
      family(),
      browserSession({ email: null, name: null, hashPerm: [], user: 'a'.repeat(255) }),
      browserSession({ sealed: 's'.repeat(100_000), hashPerm }),
    ]
    for (const each of all) await created(each)
    for (const each of all) {
      await has(each)
      const value = await read(each)
      t.match(value, { id: each.id, tenant: 'acme', user: each.user, renewAt: each.renewAt, endedAt: null })
      t.equal(bytes(value?.cookieHash), bytes(each.cookieHash))
      t.same(value?.hashPerm, each.hashPerm)
    }
  })

  test('any text of an identity provider is stored unchanged', async (t, { created, has, read, renew }) => {
    const texts = ['', '\0', 'a\0b', '\ud800', 'x\udc00y', '\ufffd', '"\\\n\u2028', '😀', 'null', '\ufeff ']
    for (const text of texts) {
      const claims = { user: text, email: text, name: text, hashPerm: [text, `${text}:${text}`] }
      const session = await created(family(claims))
      await has(session)
      const value = await read(session)
      t.strictSame([value?.user, value?.email], [text, text])
      const renewal = { ...RENEWAL, email: text, name: text }
      await renew(session, session.handleHash, renewal)
      await has(session, renewal)
    }
  })

  test('any text may be the id of a lookup without a result', async (t, calls) => {
    const { stored, read, use, claim, giveBack, renew, end } = calls
    for (const id of ['', '\0', 'a\0b', '\ud800', "' OR 1=1 --", 'x'.repeat(100_000)]) {
      const no = family({ id })
      t.equal(await stored(no), null)
      t.equal(await read(no), null)
      t.equal(await use(no), 'unknown')
      t.equal(await claim(no), null)
      t.equal(await giveBack(no, null, null, 'x'), false)
      t.equal(await renew(no, null), null)
      t.equal(await end(no), null)
    }
  })

  test('tenants are separate', async (t, { sessions, created, stored, read, has, use, ...calls }) => {
    const theirs = family({ tenant: 'globex' })
    await sessions.create(theirs)
    t.equal(await stored(theirs), null)
    t.equal(await read(theirs), null)
    t.equal(await calls.end(theirs), null)
    t.equal(await use(theirs), 'unknown')
    t.equal(await calls.claim(theirs), null)
    t.equal(await calls.giveBack(theirs, theirs.handleHash, hash(), null), false)
    t.equal(await calls.renew(theirs, theirs.handleHash), null)
    const ours = await created(browserSession({ id: theirs.id }))
    await has(ours)
    same(t, await sessions.sessionById('globex', theirs.id), theirs)
  })

  test('an id can be used once', async (t, { sessions, created, has }) => {
    const session = await created(browserSession())
    await t.rejects(sessions.create({ ...browserSession(), id: session.id }))
    await has(session)
  })

  test('rotate: a handle is valid once', async (t, { created, has, rotate, use }) => {
    const session = await created(family())
    const next = hash()
    const rotation = await rotate(session, {}, next)
    t.equal(rotation.outcome, 'rotated')
    if (rotation.outcome === 'rotated') same(t, rotation.session, { ...session, handleHash: next })
    await has(session, { handleHash: next })
    t.equal(await use(session, { handle: next }), 'rotated', 'and the next one is valid')
  })

  test('rotate: a used handle ends the family', async (t, { created, stored, announced, rotate, use }) => {
    const session = await created(family())
    const next = hash()
    await rotate(session, {}, next)
    const replay = await rotate(session, {}, hash(), NOW + 5)
    t.equal(replay.outcome, 'replayed')
    if (replay.outcome === 'replayed') await announced(session, replay.committed)
    t.match(await stored(session), { endedAt: NOW + 5, sealed: '' }, 'without the tokens of the provider')
    for (const handle of [next, session.handleHash ?? hash()])
      t.equal(await use(session, { handle }, hash(), NOW + 6), 'ended')
  })

  test('rotate: of many concurrent uses exactly one succeeds, and the family ends', async (t, calls) => {
    for (let round = 0; round < 10; round++) {
      const session = await calls.created(family())
      const outcomes = await Promise.all(Array.from({ length: 8 }, () => calls.use(session)))
      t.same(outcomes.sort(), [...Array(6).fill('ended'), 'replayed', 'rotated'])
      t.equal((await calls.stored(session))?.endedAt, NOW)
    }
  })

  test('rotate: a handle of another family changes nothing', async (t, { created, has, use }) => {
    const session = await created(family())
    t.equal(await use(session, { family: hash() }), 'unknown')
    t.equal(await use({ ...session, id: ABSENT.id }), 'unknown')
    const cookie = await created(browserSession())
    const proof = { family: cookie.cookieHash ?? hash(), handle: cookie.cookieHash ?? hash() }
    t.equal(await use(cookie, proof), 'unknown', 'a browser session has no handle')
    await has(session)
  })

  test('rotate: expired, also with a used handle, and at the exact time', async (t, {
    created,
    has,
    use,
  }) => {
    const session = await created(family({ expiresAt: NOW }))
    t.equal(await use(session), 'expired')
    t.equal(await use(session, { handle: hash() }), 'expired')
    await has(session)
  })

  test('giveBack: the handle is valid again, once', async (t, {
    created,
    stored,
    has,
    rotate,
    use,
    giveBack,
  }) => {
    const session = await created(family())
    const next = hash()
    await rotate(session, {}, next)
    t.equal(await giveBack(session, next, session.handleHash, 'sealed again'), true)
    await has(session, { sealed: 'sealed again' })
    t.equal(await giveBack(session, next, session.handleHash, 'no'), false, 'no longer the current handle')
    t.equal(await giveBack(session, null, null, 'no'), false, 'a family has a handle')
    t.equal((await stored(session))?.sealed, 'sealed again')
    t.equal(await use(session), 'rotated')
  })

  test('giveBack: never to a family that was ended', async (t, { created, rotate, use, giveBack }) => {
    const session = await created(family())
    const next = hash()
    await rotate(session, {}, next)
    await rotate(session)
    t.equal(await giveBack(session, next, session.handleHash, null), false)
    t.equal(await use(session), 'ended')
  })

  test('claimRenewal: one at a time', async (t, { created, claim, giveBack, renew }) => {
    const session = await created(browserSession())
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim(session)))
    const won = claims.filter((each) => each !== null)
    t.equal(won.length, 1)
    same(t, won[0] ?? null, session)
    t.equal(await claim(session, NOW + 999), null)
    t.ok(await claim(session, NOW + 1000), 'once it has expired')
    t.equal(await giveBack(session, null, null, 'newer'), true)
    t.equal((await claim(session, NOW + 1000))?.sealed, 'newer', 'or was given back')
    await renew(session, null)
    t.ok(await claim(session, NOW + 1000), 'or used')
  })

  test('claimRenewal: not of an ended or expired session', async (t, { created, claim, end }) => {
    const ended = await created(browserSession())
    const expired = await created(browserSession({ expiresAt: NOW }))
    await end(ended)
    for (const session of [ended, expired, ABSENT]) t.equal(await claim(session), null)
  })

  test('renew: for the current handle, with a row in the feed', async (t, calls) => {
    const { created, has, renew, announced, end } = calls
    for (const session of [family(), browserSession()]) {
      await created(session)
      t.equal(await renew(session, hash()), null, 'another handle')
      if (session.handleHash !== null) t.equal(await renew(session, null), null)
      await has(session)
      await announced(session, await renew(session, session.handleHash))
      await has(session, RENEWAL)
      await end(session)
      t.equal(await renew(session, session.handleHash), null, 'never an ended session')
    }
  })

  test('end: at once, permanently, and announced each time', async (t, calls) => {
    const { created, stored, read, announced, end } = calls
    const session = await created(browserSession())
    await announced(session, await end(session))
    t.equal((await read(session))?.endedAt, NOW)
    await announced(session, await end(session, NOW + 5))
    const ended = await stored(session)
    t.equal(ended?.endedAt, NOW, 'the time of the first end stays')
    t.equal(ended?.sealed, '', 'the tokens of the provider are removed')
    t.equal(await end(ABSENT), null)
  })

  test('end and readSession: the reading is not older than the change', async (t, {
    sessions,
    created,
    end,
  }) => {
    const session = await created(browserSession())
    const before = await sessions.readSession('acme', session.id)
    const committed = await end(session)
    const after = await sessions.readSession('acme', session.id)
    t.ok(committed !== null && before.seq < committed.seq && after.seq >= committed.seq)
    t.equal(after.value?.endedAt, NOW)
  })

  test('the feed contains changes that affect memory, and no others', async (t, calls) => {
    const { sessions, created, read, feed, rotate, giveBack, claim, renew, end } = calls
    const browser = await created(browserSession())
    const program = await created(family())
    const next = hash()
    await created(browserSession({ expiresAt: NOW - 1 }))
    await rotate(program, {}, next)
    await rotate(program, { family: hash() })
    await rotate(program, {}, hash(), program.expiresAt)
    await giveBack(program, next, program.handleHash, null)
    await claim(browser)
    await giveBack(browser, null, null, 'x')
    await renew(browser, hash())
    await end(ABSENT)
    await sessions.prune(NOW, 10)
    if (feed !== null) t.same(await feed(), [])
    await renew(browser, null)
    await rotate(program, { handle: hash() })
    await rotate(program)
    await end(browser)
    if (feed !== null) t.same(await feed(), [browser.id, program.id, browser.id])
    t.equal((await read(program))?.endedAt, NOW)
  })

  sessionEnds(test)

  test('prune: expired sessions, ended or not, in limited batches', async (t, { sessions, ...calls }) => {
    const old = await calls.created(browserSession({ expiresAt: NOW - 1 }))
    const older = await calls.created(family({ expiresAt: NOW - HOUR, tenant: 'globex' }))
    const ended = await calls.created(browserSession({ expiresAt: NOW + HOUR }))
    const live = await calls.created(browserSession({ expiresAt: NOW }))
    await calls.end(ended, NOW - HOUR)
    for (const [most, gone] of [
      [1, 1],
      [10, 1],
      [10, 0],
    ] as const)
      t.equal(await sessions.prune(NOW, most), gone)
    t.equal(await calls.stored(old), null)
    t.equal(await sessions.sessionById('globex', older.id), null)
    t.ok(await calls.stored(ended), 'an ended session stays until it would have expired')
    t.ok(await calls.stored(live))
  })
}
