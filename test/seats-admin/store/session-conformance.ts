/**
 * Requirements of every session store, one by one: `seats-admin/store/session-store.ts`. The test of each driver runs
 * them on the real store.
 */

import type { Test } from 'tap'
import type { Store, StoredSession } from '../../../seats-admin/index.ts'
import { sessionEnds } from './session-ends.ts'
import { sessionInstances } from './session-instances.ts'
import { sessionRevocations } from './session-revocations.ts'
import { browserSession, bytes, family, hash, NOW, RENEWAL, same, sessionTest } from './session-records.ts'
import type { SessionCalls } from './session-records.ts'

/** The id of no session. */
const ABSENT = { ...family(), id: 'A'.repeat(22) }

/** No call finds the session. */
async function notFound(t: Test, one: SessionCalls, session: StoredSession): Promise<void> {
  const { handleHash } = session
  t.equal(await one.stored(session), null)
  t.equal(await one.read(session), null)
  t.equal(await one.use(session), 'unknown')
  t.equal(await one.claim(session), null)
  t.equal(await one.giveBack(session, handleHash, hash(), 'x'), false)
  t.equal(await one.giveBack(session, null, null, 'x'), false)
  t.equal(await one.renew(session, handleHash), null)
  t.equal(await one.renew(session, null), null)
  t.equal(await one.end(session), null)
}

/** @param open gives each test two stores on one empty database */
export function sessionConformance(t: Test, open: (t: Test) => Promise<readonly Store[]>): void {
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

  test('any text may be the id of a lookup without a result', async (t, one) => {
    for (const id of ['', '\0', 'a\0b', '\ud800', "' OR 1=1 --", 'x'.repeat(100_000)])
      await notFound(t, one, family({ id }))
  })

  test('tenants are separate', async (t, one) => {
    const theirs = family({ tenant: 'globex' })
    await one.sessions.create(theirs)
    await notFound(t, one, theirs)
    await one.has(await one.created(browserSession({ id: theirs.id })))
    same(t, await one.sessions.sessionById('globex', theirs.id), theirs)
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

  test('rotate: a handle of another family changes nothing', async (t, { created, has, use }) => {
    const session = await created(family())
    t.equal(await use(session, { family: hash() }), 'unknown')
    t.equal(await use({ ...session, id: ABSENT.id }), 'unknown')
    const cookie = await created(browserSession())
    const proof = { family: cookie.cookieHash ?? hash(), handle: cookie.cookieHash ?? hash() }
    t.equal(await use(cookie, proof), 'unknown', 'a browser session has no handle')
    await has(session)
  })

  test('rotate: expired at the exact time, also with a used handle', async (t, { created, has, use }) => {
    const session = await created(family({ expiresAt: NOW }))
    t.equal(await use(session), 'expired')
    t.equal(await use(session, { handle: hash() }), 'expired')
    await has(session)
  })

  test('giveBack: the handle is valid again, once', async (t, one) => {
    const session = await one.created(family())
    const next = hash()
    await one.rotate(session, {}, next)
    t.equal(await one.giveBack(session, next, session.handleHash, 'sealed again'), true)
    await one.has(session, { sealed: 'sealed again' })
    t.equal(await one.giveBack(session, next, session.handleHash, 'no'), false, 'not the current handle')
    t.equal(await one.giveBack(session, null, null, 'no'), false, 'a family has a handle')
    await one.has(session, { sealed: 'sealed again' })
    t.equal(await one.use(session), 'rotated')
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
    same(t, await claim(session), session)
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
    t.same(await feed(), [])
    await renew(browser, null)
    await rotate(program, { handle: hash() })
    await rotate(program)
    await end(browser)
    t.same(await feed(), [browser.id, program.id, browser.id])
    t.equal((await read(program))?.endedAt, NOW)
  })

  sessionEnds(test)
  sessionInstances(test)
  sessionRevocations(test)
}
