/**
 * The revocation of a user in a fleet of three, with Redis and without: all that the user has open is cut at each
 * instance and counted, and no credential of the user passes at any of them from the answer on.
 */

import t from 'tap'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
import { startFleet } from './fleet.ts'
import { countsOf, startOpenUpstream } from './open-exchanges.ts'
import { closed, partOf, type Revoked, Revoking } from './revoking.ts'

for (const redis of ['own', 'none'] as const)
  t.test(redis === 'own' ? 'with Redis' : 'without Redis', async (t) => {
    const { open, upstream } = await startOpenUpstream(t)
    const fleet = await startFleet(t, { redis, proxies: [], upstream })
    const { gateways, first } = fleet
    const revoking = await Revoking.at(fleet)

    /** What a new user has: a token, a session, and an API key. */
    const newUser = async () => {
      const user = revoking.user()
      const [token, session, key] = await Promise.all([
        revoking.token(user),
        revoking.session(user),
        revoking.key(user),
      ])
      return { user, token, session, key, all: [token, session, key] }
    }
    const openEverywhere = (credentials: Awaited<ReturnType<typeof newUser>>['all']) =>
      Promise.all(
        gateways.map(async (gateway) =>
          (await Promise.all(credentials.map((credential) => open(gateway, credential)))).flat(),
        ),
      )

    await t.test('what is open is cut, and counted, and nothing passes afterwards', async (t) => {
      let round = 0
      const bob = await newUser()
      const others = (await openEverywhere(bob.all)).flat()
      const { user, answer, exchanges } = await closed(async () => {
        const user = await newUser()
        const exchanges = await openEverywhere(user.all)
        const writer = fleet.at(round++ % gateways.length)
        const answer = await revoking.revoke(writer, { user: user.user })
        t.match(answer.instances[0], partOf(answer, writer), 'the instance that answers is the first')
        for (const credential of [user.token, user.session])
          t.same(await revoking.decisions(credential), REVOKED, 'the first decision of each instance')
        t.same(await revoking.decisions(user.key), REVOKED_KEY)
        return { user, answer, exchanges }
      })
      t.equal(answer.instances.length, 3)
      for (const [at, gateway] of gateways.entries()) {
        const { how, cut } = partOf(answer, gateway)
        t.same([how, cut], ['acknowledged', exchanges[at]?.length], `gateway ${gateway.name}`)
      }
      t.same(answer.ended, { sessions: 1, api_keys: 1, ...countsOf(exchanges.flat()) })
      const ends = await Promise.all(exchanges.flat().map(async (each) => [each.kind, await each.cut()]))
      t.same(
        new Set(ends.map(String)),
        new Set(
          ['websockets', 'requests']
            .flatMap((kind) => CODES.map((code) => `${kind},${code}`))
            .concat('streams,'),
        ),
      )

      for (const each of others) t.ok(each.isOpen, `${each.kind} of another user`)
      await Promise.all(others.map((each) => each.passes()))
      t.same(
        await revoking.decisions(await revoking.session(user.user)),
        ALLOWED,
        'a session that begins later',
      )
      t.same(await revoking.decisions(await revoking.key(user.user)), ALLOWED, 'a key that is made later')
      await later(answer)
      t.same(await revoking.decisions(await revoking.token(user.user)), ALLOWED, 'a token of a later second')
      t.same(await revoking.decisions(user.token), REVOKED, 'and the old one is still void')
    })

    await t.test('each instance shows the answer as it was sent, with its place in the feed', async (t) => {
      const { answer } = await closed(async () => ({
        answer: await revoking.revoke(first, { user: (await newUser()).user }),
      }))
      for (const gateway of gateways) t.strictSame(await revoking.stored(gateway, answer.id), answer)
      const { json } = await served(() => fleet.admin(first, 'GET', '/v1/fleet'))
      t.equal(json.changes[0].seq, answer.seq)
    })
  })

const REVOKED = Array.from({ length: 3 }, () => '401 token_revoked')
const REVOKED_KEY = REVOKED.map(() => '401 api_key_revoked')
const ALLOWED = REVOKED.map(() => 'allow')
const CODES = ['token_revoked', 'api_key_revoked']

/** Resolves in a later second than that of the revocation. */
function later({ at }: Revoked): Promise<void> {
  const second = Math.floor(Date.parse(at) / 1000)
  return until(() => Date.now() >= (second + 1) * 1000, 'the next second')
}
