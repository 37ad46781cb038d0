/** Changes that come while a response begins: none is lost. */

import { performance } from 'node:perf_hooks'
import t from 'tap'
import type { Exchange } from '../../src/http/server/exchange.ts'
import { Refusal } from '../../src/model/errors.ts'
import type { Evaluation } from '../../src/model/decision.ts'
import { Changes } from '../../src/pipeline/pending-changes.ts'
import { Reevaluation } from '../../src/pipeline/reevaluation.ts'
import { until } from '../support/until.ts'

const refusal = new Refusal('permission_denied', 'The Seat is gone.')

/** A request of a built-in endpoint, an hour old. */
function served(seat: string) {
  const decision = {
    principal: { tenant: 'acme', method: 'api-key', user: 'key', session: null, validUntil: null },
    seats: [{ id: seat, name: seat, verdict: 'grants' }],
    route: { target: { kind: 'local' } },
    permission: 'decisions:list',
    space: 'main',
  }
  const evaluation = { decision, refusal: null } as unknown as Evaluation
  const startedAt = performance.now() - 3_600_000
  return { evaluation, refusal: null, events: null, startedAt } as unknown as Exchange
}

t.test('a Seat is changed after a stream of events was allowed, and before it has begun', async (t) => {
  const exchange = served('changed')
  const [other, revoked] = [served('other'), [] as Exchange[]]
  let checks = 0
  const changes = new (class extends Changes {
    override sinceLastCheck() {
      checks++
      return super.sinceLastCheck()
    }
  })()
  changes.applyAnnouncement([{ tenant: 'acme', kind: 'seat', key: 'changed' }])
  const reevaluation = new Reevaluation(changes, {
    inFlight: new Set([exchange, other]),
    reevaluate: (each) => ({ ...each.evaluation, refusal }) as Evaluation,
    revoke: (each) => void revoked.push(each),
    reevaluated: () => {},
  })
  reevaluation.start()
  t.teardown(() => reevaluation.stop())
  await until(() => checks >= 2, 'the check that sees the change, and one after it')
  t.same(revoked, [], 'what is no stream yet is not cut')
  for (const each of [exchange, other]) each.events = { end: () => {} }
  await until(() => revoked.length > 0, 'the stream is cut')
  await until(() => checks >= 4, 'a further check')
  t.ok(revoked.length === 1 && revoked[0] === exchange, 'that one alone, and once')
})
