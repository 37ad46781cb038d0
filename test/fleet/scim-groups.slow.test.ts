/**
 * Groups by SCIM and grants in a fleet of three on PostgreSQL, with Redis and without: from the answer to a change on,
 * no instance decides on what was before, whichever instance it was sent to, and what is open is cut everywhere.
 */

import t from 'tap'
import { BASE, GROUP, TOKEN, USER } from '../scim/support.ts'
import { type Answer, Client } from '../support/client.ts'
import { served } from '../support/served.ts'
import { startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { OPENING, startOpenUpstream } from './open-exchanges.ts'
import { Revoking } from './revoking.ts'

const acme = [`scim: { token: ${TOKEN} }`, 'seats_from: scim']
const ROUNDS = 3

/** A request of the provider. Each of these may be repeated. */
function provide({ port }: FleetGateway, method: string, path: string, body: object): Promise<Answer> {
  return served(async () => {
    const client = new Client(port)
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/scim+json' }
    try {
      return await client.send(method, BASE + path, headers, JSON.stringify(body))
    } finally {
      client.close()
    }
  })
}

const ALLOWED = ['allow', 'allow', 'allow']
const NO_SEAT = Array.from({ length: 3 }, () => '403 no_seat_in_space')

for (const redis of ['own', 'none'] as const)
  t.test(redis === 'own' ? 'with Redis' : 'without Redis', async (t) => {
    const { open, upstream } = await startOpenUpstream(t)
    const fleet = await startFleet(t, { redis, proxies: [], upstream, acme })
    const { gateways, first } = fleet
    const revoking = await Revoking.at(fleet)
    const user = revoking.user()
    const credential = await revoking.token(user)
    const ok = async (answer: Promise<Answer>) => {
      const { status, json, body } = await answer
      if (status >= 300) throw new Error(`${status} ${body}`)
      return json
    }
    const make = { name: 'Grouped', spaces: ['s1'], permissions: OPENING }
    const seat = await ok(served(() => fleet.admin(first, 'POST', '/v1/seats', make)))
    const { id } = await ok(
      provide(first, 'POST', '/Users', { schemas: [USER], userName: user, externalId: user }),
    )
    const group = await ok(provide(first, 'POST', '/Groups', { schemas: [GROUP], displayName: 'Grouped' }))
    const patch = (at: number, operation: object) =>
      provide(fleet.at(at % 3), 'PATCH', `/Groups/${group.id}`, { Operations: [operation] })
    const member = (op: 'add' | 'remove') => ({ op, path: 'members', value: [{ value: id }] })
    const rename = (displayName: string) => ({ op: 'replace', value: { displayName } })

    await t.test('what its token names counts nowhere', async (t) => {
      t.same(await revoking.decisions(credential), NO_SEAT)
    })

    await t.test('a member is added and removed, a group renamed, at each instance', async (t) => {
      for (let round = 0; round < ROUNDS; round++) {
        t.equal((await patch(round, member('add'))).status < 300, true)
        t.same(await revoking.decisions(credential), ALLOWED, `added, round ${round}`)
        await patch(round + 1, rename('No Seat'))
        t.same(await revoking.decisions(credential), NO_SEAT, `renamed, round ${round}`)
        await patch(round + 2, rename('Grouped'))
        t.same(await revoking.decisions(credential), ALLOWED, `renamed back, round ${round}`)
        await patch(round, member('remove'))
        t.same(await revoking.decisions(credential), NO_SEAT, `removed, round ${round}`)
      }
    })

    await t.test('what is open is cut at each instance when the member is removed', async (t) => {
      await patch(0, member('add'))
      const exchanges = (await Promise.all(gateways.map((gateway) => open(gateway, credential)))).flat()
      await patch(1, member('remove'))
      await Promise.all(exchanges.map((each) => each.cut()))
      t.same(await revoking.decisions(credential), NO_SEAT)
    })

    await t.test('a grant is given and deleted, at each instance', async (t) => {
      const until = new Date(Date.now() + 3_600_000).toISOString()
      for (let round = 0; round < ROUNDS; round++) {
        const at = (more: number) => fleet.at((round + more) % 3)
        const body = { user, seat: seat.id, until }
        const grant = await ok(served(() => fleet.admin(at(0), 'POST', '/v1/grants', body)))
        t.same(await revoking.decisions(credential), ALLOWED, `given, round ${round}`)
        const path = `/v1/grants/${grant.id}`
        const { status } = await served(() => fleet.admin(at(1), 'DELETE', path))
        t.ok(status === 204 || status === 404, 'a 503 leaves open whether it was deleted')
        t.same(await revoking.decisions(credential), NO_SEAT, `deleted, round ${round}`)
      }
    })

    await t.test('a grant ends: what is open is cut at each instance, without a change', async (t) => {
      // An instance on which it ends before all is open gets another, longer one.
      for (let lasts = 6000; ; lasts *= 3) {
        const end = Date.now() + lasts
        const body = { user, seat: seat.id, until: new Date(end).toISOString() }
        await ok(served(() => fleet.admin(first, 'POST', '/v1/grants', body)))
        const opening = Promise.all(gateways.map((gateway) => open(gateway, credential)))
        const exchanges = (await opening.catch(() => [])).flat()
        if (exchanges.length === 0 || Date.now() >= end) continue
        await Promise.all(exchanges.map((each) => each.cut()))
        t.ok(Date.now() >= end, 'not early')
        t.same(await revoking.decisions(credential), NO_SEAT)
        return
      }
    })
  })
