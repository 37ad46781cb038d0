/** The shadow decides as an engine with the candidate tables would, on the caller that the live decision found. */

import fc from 'fast-check'
import t from 'tap'
import { NO_HOLDERS } from './seats/no-restrictions.ts'
import type { Tables } from '../../src/access/tables.ts'
import { exceptionsOf } from '../../src/decision/router/pattern.ts'
import { DecisionEngine, type DecisionEngineOptions } from '../../src/decision/engine.ts'
import { ShadowEngine } from '../../src/decision/shadow.ts'
import type { AuthorizationRequest } from '../../src/model/authorization-request.ts'
import type { Evaluation } from '../../src/model/decision.ts'
import { Refusal } from '../../src/model/errors.ts'
import type { Principal } from '../../src/model/principal.ts'
import type { NamedSeat, Seat } from '../../src/model/decision-seat.ts'
import { EVERY_METHOD, everyPath, pairs, type TablesInput, tablesOf } from '../access/random-tables.ts'
import { ReceivedChanges } from '../../src/decision/seats/received-changes.ts'

const seatOf = (name: string, ...permissions: string[]): Seat => ({
  id: name,
  name,
  complete: true,
  spaces: new Set(['main']),
  permissions: new Set(permissions),
})

const SEATS = new Map(
  [seatOf('One', 'p:q'), seatOf('Other', 'r:s'), seatOf('All', '*'), seatOf('None')].map((seat) => [
    seat.name,
    seat,
  ]),
)

function holderOf(...names: string[]): Principal {
  const claims = { by: 'name', entries: new Map([['main', names]]), issuedAt: Infinity } as const
  const subject = { tenant: 'acme', user: 'a', email: null, owner: 'a', issuedAt: 100 }
  return { method: 'bearer', ...subject, claims, session: null, validUntil: null }
}

const CALLERS: readonly (Principal | Refusal)[] = [
  holderOf('One'),
  holderOf('Other', 'None'),
  holderOf('All'),
  holderOf(),
  holderOf(...Array.from({ length: 20 }, (_, i) => (i === 19 ? 'One' : 'None'))),
  new Refusal('credentials_missing', ''),
  new Refusal('token_expired', ''),
]

type Found = NamedSeat | Promise<NamedSeat>

class World {
  /** The caller of the next request, as its credential says. */
  caller: Principal | Refusal = new Refusal('credentials_missing', '')
  authentications = 0
  isLive = true
  renewals = 0
  find: (name: string) => Found = (name) => ({ seat: SEATS.get(name) ?? null, givenUpAt: null })

  partsOf(tables: Tables): DecisionEngineOptions {
    return {
      table: tables.table,
      authenticator: {
        authenticate: () => {
          this.authentications++
          return this.caller
        },
      },
      seats: {
        received: new ReceivedChanges(),
        seatByName: (_tenant, name) => this.find(name),
        seatById: () => null,
        wholeSeat: async () => null,
        ...NO_HOLDERS,
      },
      restrictions: { restriction: () => null },
      lease: {
        live: () => this.isLive,
        renewed: async () => {
          this.renewals++
        },
      },
      targetBytes: 8192,
      exceptions: (route) => exceptionsOf(tables.upstreams, route),
    }
  }
}

function engines(live: TablesInput, candidate: TablesInput) {
  const world = new World()
  const [now, next] = [tablesOf(live), tablesOf(candidate)].map((tables) => world.partsOf(tables)) as [
    DecisionEngineOptions,
    DecisionEngineOptions,
  ]
  return {
    world,
    live: new DecisionEngine(now),
    oracle: new DecisionEngine(next),
    shadow: new ShadowEngine(next),
  }
}

function requestOf(
  method: string,
  target: string,
  space: readonly string[] = ['main'],
): AuthorizationRequest {
  const credentials = { apiKey: [], authorization: [], cookie: [], space }
  return { method, target, host: null, credentials, browser: { method, rawHeaders: [], upgrade: false } }
}

const now = (evaluation: Evaluation | Promise<Evaluation>): Evaluation => {
  if (evaluation instanceof Promise) throw new Error('memory has all Seats')
  return evaluation
}

t.test('random pairs of tables and callers: the code is that of an engine with the candidate', async (t) => {
  const paths = [...everyPath(2), '/..', '/a/b/b;c', '/a%2fb', '//']
  const kinds = new Map<string, number>()
  fc.assert(
    fc.property(
      pairs(2),
      fc.constantFrom(...CALLERS),
      fc.constantFrom<readonly string[]>(['main'], [], ['other'], ['a', 'b'], ['not a space!']),
      ([one, other], caller, space) => {
        const { world, live, oracle, shadow } = engines(one, other)
        world.caller = caller
        for (const path of paths)
          for (const method of EVERY_METHOD) {
            const request = requestOf(method, path, space)
            world.authentications = 0
            const evaluation = now(live.evaluate(request))
            const code = shadow.decide(request, evaluation)
            if (world.authentications > 1) t.fail('the credential is verified twice')
            const right = now(oracle.evaluate(request)).decision.code
            if (code !== right) t.equal(code, right, `${method} ${path}`)
            const [was, is] = [evaluation.decision.code, right].map((each) => each === 'allow')
            const kind = was === is ? `${evaluation.decision.code === right}` : `${was} ${is}`
            kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
          }
      },
    ),
    { numRuns: 150 },
  )
  // The same code, another refusal, an allow that is none for the candidate, and the reverse.
  for (const kind of ['true', 'false', 'true false', 'false true']) t.ok((kinds.get(kind) ?? 0) > 0, kind)
})

const PERMISSION: TablesInput = { lines: ['GET /a: p:q'] }
const PUBLIC: TablesInput = { lines: ['GET /a: public'] }

t.test('a request that needed no credential is authenticated for the candidate', async (t) => {
  const { world, live, shadow } = engines(PUBLIC, PERMISSION)
  const request = requestOf('GET', '/a')
  world.caller = holderOf('None')
  t.equal(shadow.decide(request, now(live.evaluate(request))), 'permission_denied')
  t.equal(world.authentications, 1)
})

t.test('what one request found does not serve the next', async (t) => {
  const { world, live, shadow } = engines(
    { lines: ['GET /a: p:q', 'GET /b: public'] },
    {
      lines: ['GET /a: p:q', 'GET /b: p:q'],
    },
  )
  const [guarded, open] = [requestOf('GET', '/a'), requestOf('GET', '/b')]
  world.caller = holderOf('One')
  t.equal(shadow.decide(guarded, now(live.evaluate(guarded))), 'allow')
  world.caller = new Refusal('credentials_missing', '')
  t.equal(shadow.decide(open, now(live.evaluate(open))), 'credentials_missing')
})

t.test('a Seat that is not in memory is waited for, without the live decision', async (t) => {
  const { world, live, shadow } = engines(PUBLIC, PERMISSION)
  const request = requestOf('GET', '/a')
  world.caller = holderOf('One')
  const { promise, resolve } = Promise.withResolvers<NamedSeat>()
  world.find = () => promise
  const code = shadow.decide(request, now(live.evaluate(request)))
  t.ok(code instanceof Promise)
  resolve({ seat: SEATS.get('One') ?? null, givenUpAt: null })
  t.equal(await code, 'allow')
})

t.test('a store that cannot be asked is no decision', async (t) => {
  const { world, live, shadow } = engines(PUBLIC, PERMISSION)
  const request = requestOf('GET', '/a')
  world.caller = holderOf('One')
  world.find = () => Promise.reject(new Error('away'))
  await t.rejects(Promise.resolve(shadow.decide(request, now(live.evaluate(request)))), { message: 'away' })
})

t.test('without a lease there is no decision on Seats, and the store is not asked', async (t) => {
  const { world, live, shadow } = engines(PUBLIC, PERMISSION)
  const request = requestOf('GET', '/a')
  world.caller = holderOf('One')
  world.isLive = false
  await t.rejects(Promise.resolve(shadow.decide(request, now(live.evaluate(request)))), /no lease/)
  t.equal(world.renewals, 0)
  t.equal(world.authentications, 0)
  const reverse = engines(PERMISSION, PUBLIC)
  reverse.world.isLive = false
  const evaluation = await reverse.live.evaluate(request)
  t.equal(reverse.shadow.decide(request, evaluation), 'allow', 'a public entry needs none')
})
