/**
 * The revocation of a user who has signed in at three gateways with a real provider: cookies, tokens and refresh handles
 * of all three are refused by each of them from the answer on, and a new sign-in is accepted at once.
 */

import t, { type Test } from 'tap'
import { startProcesses } from '../sign-in/processes.ts'
import type { Visitor } from '../sign-in/visitor.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { startRedis } from '../support/servers/redis.ts'
import { served } from '../support/served.ts'
import { outcome, revoke } from '../revocations/support.ts'

const NAMES = ['a', 'b', 'c']
const ALL = NAMES.map((_, at) => at)

async function started(t: Test, hasRedis: boolean) {
  const postgres = await startPostgres(t, { fsync: false })
  const redis = hasRedis ? (await startRedis(t)).url : null
  const store = await postgres.createDatabase('sign_in')
  const fleet = await startProcesses(t, { names: NAMES, store, redis })
  fleet.user('alice', { memberOf: ['Viewer'] })
  fleet.user('bob', { memberOf: ['Viewer'] })

  /** The same browser at another gateway, as behind a load balancer. */
  const through = (visitor: Visitor, user: string, at: number) =>
    fleet.visitor(user, at).withCookiesOf(visitor)
  /** A browser that has signed in at the first gateway. */
  const browser = async (user: string) => {
    const visitor = fleet.visitor(user)
    const { status, body } = await visitor.page('/pages/a')
    if (status !== 200) throw new Error(`${status} ${body}`)
    return visitor
  }
  /** A program whose sign-in began at the first gateway, and was completed at this one if there is Redis. */
  const program = async (user: string, at: number) => {
    const { status, body, json } = await served(async () => {
      const visitor = fleet.visitor(user)
      const callback = await visitor.answer()
      // Without Redis, a sign-in is completed where it began.
      const end = hasRedis ? at : 0
      callback.port = String(fleet.at(end).port)
      return through(visitor, user, end).send(callback.href)
    })
    if (status !== 200) throw new Error(`${status} ${body}`)
    return {
      token: String(json.access_token),
      handle: String(json.refresh_token),
      sub: String(json.user.sub),
    }
  }
  return {
    fleet,
    browser,
    program,
    /** The first decision of each gateway about the cookie. */
    byCookie: (visitor: Visitor, user: string) =>
      Promise.all(ALL.map(async (at) => outcome(await through(visitor, user, at).ask('/v1/me')))),
    byToken: (token: string) =>
      Promise.all(ALL.map(async (at) => outcome(await fleet.visitor('alice', at).ask('/v1/me', { token })))),
    refresh: (handle: string, at: number) => served(() => fleet.visitor('alice', at).refresh(handle)),
  }
}

for (const hasRedis of [true, false])
  t.test(hasRedis ? 'with Redis' : 'without Redis', async (t) => {
    const { fleet, browser, program, byCookie, byToken, refresh } = await started(t, hasRedis)
    const all = (what: string) => ALL.map(() => what)

    await t.test('a user', async (t) => {
      const [page, other] = [await browser('alice'), await browser('bob')]
      const tools = await Promise.all(ALL.map((at) => program('alice', at)))
      const bob = await program('bob', 2)
      t.same(await byCookie(page, 'alice'), all('allow'))
      for (const { token } of tools) t.same(await byToken(token), all('allow'))
      const { sub = '' } = tools[0] ?? {}
      const admin: Parameters<typeof revoke>[0] = {
        admin: (method, path, body) => fleet.admin(method, path, body, 1),
      }
      const answer = await revoke(admin, { user: sub })
      t.equal(answer.ended.sessions, 4)
      // Each gateway is asked by each credential for the first time.
      t.same(await byCookie(page, 'alice'), all('401 token_revoked'))
      for (const { token } of tools) t.same(await byToken(token), all('401 token_revoked'))
      const refreshed = await Promise.all(tools.map(({ handle }, at) => refresh(handle, (at + 1) % 3)))
      t.same(refreshed.map(outcome), all('401 token_revoked'), 'a handle, at another gateway than its own')

      const [again, cookie] = [await program('alice', 2), await browser('alice')]
      t.same(await byToken(again.token), all('allow'), 'a sign-in in the same second')
      t.same(await byCookie(cookie, 'alice'), all('allow'))
      t.equal(outcome(await refresh(again.handle, 0)), 'allow')
      t.same(await byCookie(page, 'alice'), all('401 token_revoked'))
      t.same(await byCookie(other, 'bob'), all('allow'))
      t.same(await byToken(bob.token), all('allow'))
      t.equal(outcome(await refresh(bob.handle, 1)), 'allow')
    })
  })
