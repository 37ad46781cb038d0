/** A cached authorization takes no more memory than estimated: operators set a bound by the estimate. */

import t from 'tap'
import { DecisionCache } from '../../src/decision/decision-cache.ts'
import { authorizationBytes } from '../../src/lib/heap-size.ts'
import type { Principal } from '../../src/model/principal.ts'
import { collected } from '../support/garbage.ts'

function alice(): Principal {
  const claims = { by: 'name', entries: new Map(), issuedAt: 100 } as const
  const subject = { tenant: 'acme', user: 'alice', email: null, owner: 'alice', issuedAt: 100 }
  return { method: 'bearer', ...subject, claims, session: null, validUntil: null }
}

t.test('it takes at most the estimated memory', async (t) => {
  for (const count of [0, 1, 150]) {
    const seats = (caller: string) =>
      Array.from({ length: count }, (_, at) => ({
        ...{ name: 'Viewer', verdict: 'grants' as const },
        id: structuredClone(`01JZ0000-${caller}-${at}`.padEnd(26, '0')),
      }))
    const cache = new DecisionCache({ generation: 1 })
    const callers = Array.from({ length: 1000 }, () => alice())
    const before = (await collected()).heapUsed
    for (const [at, principal] of callers.entries()) {
      const list: ReturnType<typeof seats> = []
      for (const seat of seats(`${at}`)) list.push(seat)
      cache.set(principal, 's1', 'trainings:list', { code: 'allow', seats: list })
    }
    const took = ((await collected()).heapUsed - before) / callers.length
    t.ok(took > 50 && took <= authorizationBytes(count), `${took} bytes of ${authorizationBytes(count)}`)
    t.ok(
      authorizationBytes(count) < 3 * took,
      `${authorizationBytes(count)} bytes estimated, ${took} measured`,
    )
    t.equal(cache.get(callers[0] ?? alice(), 's1', 'trainings:list')?.code, 'allow')
  }
})

t.test('the cached name of a space does not retain the request', async (t) => {
  const cache = new DecisionCache({ generation: 1 })
  const callers = Array.from({ length: 300 }, () => alice())
  const request = (at: number) =>
    Buffer.from(`space-of-the-request-${'x'.repeat(20_000)}${at}`).toString('latin1')
  const before = (await collected()).heapUsed
  for (let turn = 0; turn < 2; turn++)
    for (const [at, principal] of callers.entries()) {
      const space = request(at).slice(0, 13 + turn)
      cache.set(principal, space, 'trainings:list', { code: 'no_seat_in_space', seats: [] })
    }
  const took = ((await collected()).heapUsed - before) / callers.length
  t.ok(took < authorizationBytes(0), `${took} bytes`)
  t.ok(cache.get(callers[299] ?? alice(), 'space-of-the-r', 'trainings:list'))
})
