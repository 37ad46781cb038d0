/**
 * Three gateways on one PostgreSQL and one Redis, and a certified provider that sends logout tokens to the first of them.
 * When it has been answered, no gateway accepts the sessions and their tokens.
 */

import { decodeJwt } from 'jose'
import t, { type Test } from 'tap'
import { startPostgres } from '../support/servers/postgres.ts'
import { startRedis } from '../support/servers/redis.ts'
import { until } from '../support/until.ts'
import { startProcesses } from './processes.ts'
import type { Visitor } from './visitor.ts'

const NAMES = ['a', 'b', 'c']

const postgres = await startPostgres(t, { fsync: false })
const redis = await startRedis(t)
const store = await postgres.createDatabase('backchannel')
const fleet = await startProcesses(t, { names: NAMES, store, redis: redis.url })

/** A user's browser, signed in at a page and as a program within one session at the provider. */
async function signedIn(user: string) {
  fleet.user(user, { memberOf: ['Viewer'] })
  const visitor = fleet.visitor(user)
  const page = await visitor.page('/pages/a')
  if (page.status !== 200) throw new Error(`${page.status} ${page.body}`)
  return { visitor, token: String((await visitor.signIn()).json.access_token) }
}

/** Codes of requests by cookie and by token, at every gateway. */
function codes({ visitor, token }: { visitor: Visitor; token: string }): Promise<string[]> {
  const ask = async (index: number, by: 'cookie' | 'token') => {
    const there = fleet.visitor('', index)
    const page = await (by === 'cookie'
      ? there.withCookiesOf(visitor).ask('/v1/me')
      : there.ask('/v1/trainings', { token, space: 'main' }))
    return page.status === 200 ? 'allow' : String(page.json.code)
  }
  return Promise.all(NAMES.flatMap((_, index) => [ask(index, 'cookie'), ask(index, 'token')]))
}

async function logOutAtProvider({ visitor }: { visitor: Visitor }): Promise<void> {
  const page = await visitor.walk(`${fleet.acme.issuer}/session/end`)
  if (page.status !== 200) throw new Error(`${page.status} ${page.body}`)
}

const all = (code: string) => Array(2 * NAMES.length).fill(code)

async function endsAll(t: Test, how: (signedIn: { visitor: Visitor; token: string }) => Promise<unknown>) {
  const other = await signedIn('bob')
  for (let round = 0; round < 4; round++) {
    const user = await signedIn('alice')
    // Every gateway has the session in memory.
    t.same(await codes(user), all('allow'))
    await how(user)
    t.same(await codes(user), all('token_invalid'), `round ${round}`)
  }
  t.same(await codes(other), all('allow'), 'another user stays signed in')
}

t.test('logout at the provider', async (t) => {
  let sessions = 0
  await endsAll(t, async (user) => {
    const { data } = (await fleet.admin('GET', '/v1/sessions?user=alice')).json
    // More where a gateway answered 503, and the store had written the session all the same.
    t.ok(data.length >= 2)
    sessions += data.length
    await logOutAtProvider(user)
  })
  await until(() => fleet.at(0).log.includes('"event":"backchannel_logout"'), 'the line of a logout')
  const { issuer } = fleet.acme
  const query = `action=session.end&actor=${encodeURIComponent(issuer)}`
  const { data } = (await fleet.admin('GET', `/v1/audit?${query}`, undefined, 1)).json
  t.equal(data.length, sessions, 'each session')
  for (const { actor, target, request_id: id } of data) {
    t.match(
      [actor, target],
      [
        { kind: 'provider', id: issuer },
        { kind: 'session', name: 'alice' },
      ],
    )
    // Its lines arrive by a pipe.
    await until(() => fleet.at(0).log.includes(`"request_id":"${id}"`), `the line of request ${id}`)
  }
})

t.test('the end of sessions by an administrator, at a gateway by turns', async (t) => {
  let turn = 0
  await endsAll(t, async () => {
    const { json } = await fleet.admin('GET', '/v1/sessions?user=alice', undefined, ++turn % 3)
    t.ok(json.data.length >= 2)
    for (const { id } of json.data) {
      const ended = await fleet.admin('DELETE', `/v1/sessions/${id}`, undefined, turn % 3)
      t.ok(ended.status === 204 || (ended.isRepeated && ended.status === 404), `${ended.status}`)
    }
  })
  t.same((await fleet.admin('GET', '/v1/sessions?user=alice')).json, { data: [], has_more: false })
})

t.test('a logout token that one gateway took is refused by the others', async (t) => {
  const user = await signedIn('carol')
  const tokens: string[] = []
  fleet.acme.sends = (body) => void tokens.push(new URLSearchParams(body).get('logout_token') ?? '')
  await logOutAtProvider(user)
  t.match(decodeJwt(tokens[0] ?? ''), { sub: 'carol', sid: String, jti: String })
  for (const [index] of NAMES.entries()) {
    const uri = `${fleet.visitor('', index).origin}/auth/oidc/backchannel-logout/acme`
    const page = await fleet.visitor('', index).post(uri, { logout_token: tokens[0] ?? '' })
    t.equal(page.status, 400)
    t.match(page.json, { error: 'invalid_request', error_description: /already used/ })
  }
})

t.test('Redis is unavailable: the sessions end all the same', async (t) => {
  const users = await Promise.all(['dora', 'erin'].map(signedIn))
  await redis.kill()
  for (const user of users) {
    t.same(await codes(user), all('allow'))
    await logOutAtProvider(user)
    t.same(await codes(user), all('token_invalid'))
  }
})
