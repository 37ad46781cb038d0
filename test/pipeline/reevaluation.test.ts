/** When open exchanges are cut or decided again, by a clock of the test. */

import t from 'tap'
import type { Evaluation } from '../../src/model/decision.ts'
import { Refusal } from '../../src/model/errors.ts'
import type { Principal } from '../../src/model/principal.ts'
import { Changes } from '../../src/pipeline/pending-changes.ts'
import type { OpenExchange } from '../../src/pipeline/open-exchange.ts'
import { Reevaluation } from '../../src/pipeline/reevaluation.ts'

const refusal = new Refusal('caller_blocked', 'Blocked.')
const unavailable = new Refusal('unavailable', 'Away.')

interface Open extends OpenExchange {
  readonly name: string
  readonly kind: 'websockets' | 'streams' | 'requests'
  /** The code with which it was cut. */
  cut: string | null
}

function evaluationOf(principal: Principal, refused: Refusal | null = null): Evaluation {
  const decision = {
    code: refused?.code ?? 'allow',
    principal,
    seats: [{ id: 'seat', name: 'Seat', verdict: 'grants' }],
    route: { target: { kind: 'upstream' } },
    permission: null,
    space: null,
  }
  return { decision, refusal: refused } as unknown as Evaluation
}

function principalOf(more: Partial<Principal>): Principal {
  const claims = { by: 'any-space' as const, names: [], issuedAt: 0 }
  const fixed = { tenant: 'acme', email: null, claims, validUntil: null }
  return { ...fixed, method: 'session', user: 'u', owner: 'u', issuedAt: Infinity, session: 's1', ...more }
}

/** Exchanges at a clock that the test moves. Their decisions again give `next`. */
function setUp({ isStarted = true } = {}) {
  const changes = new Changes()
  const inFlight = new Set<Open>()
  const timers: { readonly at: number; readonly run: () => void }[] = []
  const state = {
    now: 10_000,
    /** ms that a check takes. */
    checkTakes: 0,
    checks: 0,
    next: (): Refusal | null | Promise<Refusal | null> => null,
    decided: [] as string[],
  }
  const open = {
    isEventStream: () => false,
    kindOf: ({ kind }: Open) => kind,
    get inFlight() {
      state.checks++
      state.now += state.checkTakes
      return inFlight
    },
    reevaluate: ({ name, evaluation }: Open): Evaluation | Promise<Evaluation> => {
      state.decided.push(name)
      const principal = evaluation?.decision.principal ?? principalOf({})
      const next = state.next()
      return next instanceof Promise
        ? next.then((each) => evaluationOf(principal, each))
        : evaluationOf(principal, next)
    },
    revoke: (exchange: Open, { code }: Refusal) => {
      exchange.cut = code
      inFlight.delete(exchange)
    },
    reevaluated: () => {},
  }
  const reevaluation = new Reevaluation<Open>(changes, open, {
    now: () => state.now,
    wall: () => state.now,
    every: () => () => {},
    after: (ms, run) => void timers.push({ at: state.now + ms, run }),
  })
  if (isStarted) reevaluation.start()
  const add = (name: string, more: Partial<Principal>, kind: Open['kind'] = 'streams'): Open => {
    const evaluation = evaluationOf(principalOf(more))
    const exchange = { name, kind, cut: null, startedAt: state.now, evaluation, refusal: null }
    inFlight.add(exchange)
    return exchange
  }
  /** Runs what is due after `ms`, and all that it starts. */
  const pass = async (ms = 0) => {
    state.now += ms
    for (const timer of timers.splice(0)) {
      if (timer.at <= state.now) timer.run()
      else timers.push(timer)
    }
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  return { changes, reevaluation, state, timers, add, pass }
}

const change = (kind: string, key: string, mark = 1) => ({ tenant: 'acme', kind, key, mark })

function revocation(mark: number, ...more: ReturnType<typeof change>[]) {
  const notice = JSON.stringify({ at: 1000, subject: { user: 'u' } })
  return [change('revocation', notice, mark), ...more]
}

t.test('a revocation cuts what it names in the next turn, without a decision, and says what', async (t) => {
  const { changes, state, add, pass } = setUp()
  const ended = [
    add('socket', {}, 'websockets'),
    add('stream', {}),
    add('request', {}, 'requests'),
    add('token', { method: 'bearer', session: null, issuedAt: 1 }),
    add('key', { method: 'api-key', user: 'k1', session: null }),
  ]
  const others = [
    add('new session', { session: 's2' }),
    add('new token', { method: 'bearer', session: null, issuedAt: 2 }),
    add('other user', { owner: 'v', user: 'v', session: 's3' }),
  ]
  changes.applyAnnouncement(revocation(1, change('session', 's1'), change('api-key', 'k1')))
  t.notOk(ended.some(({ cut }) => cut !== null))
  await pass()
  t.same(
    ended.map(({ cut }) => cut),
    ['token_revoked', 'token_revoked', 'token_revoked', 'token_revoked', 'api_key_revoked'],
  )
  t.notOk(others.some(({ cut }) => cut !== null))
  t.same(state.decided, ['new session'])
  t.same(await changes.cutBy(1), { websockets: 1, streams: 3, requests: 1 })
})

t.test('before the start nothing is open, which is said at once of each revocation', async (t) => {
  const { changes, reevaluation, add, pass } = setUp({ isStarted: false })
  changes.applyAnnouncement(revocation(1, change('session', 's1')))
  changes.applyAnnouncement([{ ...change('revocation', 'of a newer form'), mark: 2 }])
  for (const mark of [1, 2])
    t.same(await changes.cutBy(mark), { websockets: 0, streams: 0, requests: 0 }, `${mark}`)
  reevaluation.start()
  const request = add('request', {}, 'requests')
  changes.applyAnnouncement(revocation(3, change('session', 's1', 3)))
  await pass()
  t.equal(request.cut, 'token_revoked')
  t.same(await changes.cutBy(3), { websockets: 0, streams: 0, requests: 1 })
})

t.test('an announcement and a reading of one revocation cut once, and count once', async (t) => {
  const { changes, state, add, pass } = setUp()
  add('stream', {})
  const all = revocation(1, change('session', 's1'))
  changes.applyAnnouncement(all)
  changes.applyReading(all)
  await pass()
  const { checks } = state
  changes.applyReading(all)
  await pass()
  t.same(await changes.cutBy(1), { websockets: 0, streams: 1, requests: 0 })
  t.equal(state.checks, checks, 'what is open is not looked at again')
  t.same(state.decided, [])
})

t.test('a count cuts nothing', async (t) => {
  const { changes, add, pass } = setUp()
  const stream = add('stream', {})
  const notice = JSON.stringify({ at: 1000, subject: { user: 'u' }, count: true })
  changes.applyAnnouncement([change('revocation', notice)])
  await pass()
  t.same(await changes.cutBy(1), { websockets: 0, streams: 1, requests: 0 })
  t.equal(stream.cut, null)
})

t.test('what only a decision can tell is decided at once, however young', async (t) => {
  const { changes, state, add, pass } = setUp()
  const [ended, later] = [add('ended', {}), add('later', { session: 's2' })]
  state.next = () => (state.decided.at(-1) === 'ended' ? refusal : null)
  changes.applyAnnouncement(revocation(1))
  await pass()
  t.same([ended.cut, later.cut], ['caller_blocked', null])
  t.same(await changes.cutBy(1), { websockets: 0, streams: 1, requests: 0 })
})

t.test('while the store is away the count is not known, and the exchange stays pending', async (t) => {
  const { changes, state, add, pass } = setUp()
  const stream = add('stream', {})
  state.next = () => unavailable
  changes.applyAnnouncement(revocation(1))
  await pass()
  t.equal(await changes.cutBy(1), null)
  t.equal(stream.cut, null)
  state.next = () => refusal
  await pass(2000)
  changes.applyAnnouncement([change('session', 'another')])
  await pass()
  t.equal(stream.cut, 'caller_blocked', 'at the next check')
})

t.test('an evaluation in flight is waited for: it may have read the state before', async (t) => {
  const { changes, state, add, pass } = setUp()
  const stream = add('stream', {})
  const { promise, resolve } = Promise.withResolvers<Refusal | null>()
  state.next = () => promise
  changes.applyAnnouncement([change('session', 's1')])
  await pass()
  t.same(state.decided, ['stream'])
  state.next = () => refusal
  changes.applyAnnouncement(revocation(2))
  await pass()
  t.same(state.decided, ['stream'])
  resolve(null)
  await pass()
  t.same(state.decided, ['stream', 'stream'])
  t.equal(stream.cut, 'caller_blocked')
  t.same(await changes.cutBy(2), { websockets: 0, streams: 1, requests: 0 })
})

t.test('a key of the user whose revocation is still being decided is waited for', async (t) => {
  const { changes, state, add, pass } = setUp()
  const stream = add('stream', { method: 'api-key', user: 'k1', session: null })
  const { promise, resolve } = Promise.withResolvers<Refusal | null>()
  state.next = () => promise
  changes.applyAnnouncement([change('api-key', 'k1')])
  await pass()
  state.next = () => refusal
  changes.applyAnnouncement(revocation(2))
  let cut: unknown = 'unsaid'
  void changes.cutBy(2).then((counts) => (cut = counts))
  await pass()
  t.equal(cut, 'unsaid')
  resolve(unavailable)
  await pass()
  t.equal(stream.cut, 'caller_blocked')
  t.same(cut, { websockets: 0, streams: 1, requests: 0 })
})

t.test('several revocations of one commit cut together', async (t) => {
  const { changes, add, pass } = setUp()
  const tokens = ['u', 'v', 'w'].map((user) =>
    add(user, { method: 'bearer', user, owner: user, session: null, issuedAt: 1 }),
  )
  const notice = JSON.stringify({ at: 1000, subject: { user: 'v' } })
  changes.applyReading([...revocation(1), change('revocation', notice)])
  await pass()
  t.same(
    tokens.map(({ cut }) => cut),
    ['token_revoked', 'token_revoked', null],
  )
  t.same(await changes.cutBy(1), { websockets: 0, streams: 2, requests: 0 })
})

t.test('the end of a session, a key or a block is decided at once; a Seat waits', async (t) => {
  for (const [kind, key] of [
    ['session', 's1'],
    ['block', '"u"'],
    ['api-key', 'k1'],
  ] as const) {
    const { changes, state, add, pass } = setUp()
    state.next = () => refusal
    const stream = add('stream', kind === 'api-key' ? { method: 'api-key', user: 'k1', session: null } : {})
    const other = add('other', { user: 'v', owner: 'v', session: 's2' })
    changes.applyAnnouncement([change(kind, key)])
    await pass()
    t.same([stream.cut, other.cut], ['caller_blocked', null], kind)
  }
  const { changes, timers, add, pass, state } = setUp()
  add('stream', {})
  changes.applyAnnouncement([change('seat', 'seat')])
  await pass()
  t.same([timers.length, state.decided.length], [0, 0])
})

t.test('a Seat changes while a decision on it is made: it is decided again', async (t) => {
  for (const isFirst of [true, false]) {
    const { changes, state, add, pass } = setUp()
    const stream = add('stream', {})
    const { evaluation } = stream
    const { promise, resolve } = Promise.withResolvers<Refusal | null>()
    if (isFirst) stream.evaluation = null
    else {
      state.next = () => promise
      changes.applyAnnouncement([change('session', 's1')])
      await pass()
    }
    changes.applyAnnouncement([change('seat', 'unknown yet'), change('session', 'another')])
    await pass()
    stream.evaluation = evaluation
    resolve(null)
    state.next = () => refusal
    await pass(1000)
    changes.applyAnnouncement([change('session', 'another')])
    await pass()
    t.equal(stream.cut, 'caller_blocked', `${isFirst}`)
  }
})

t.test('a block concerns the keys of its user', async (t) => {
  const { changes, state, add, pass } = setUp()
  state.next = () => refusal
  const owned = add('owned', { method: 'api-key', user: 'k1', session: null })
  const other = add('other', { method: 'api-key', user: 'k2', owner: null, session: null })
  changes.applyAnnouncement([change('block', '"u"')])
  await pass()
  t.same([owned.cut, other.cut], ['caller_blocked', null])
})

t.test('a flood of renewed sessions takes a twentieth of the time; a revocation does not wait', async (t) => {
  const { changes, state, add, pass } = setUp()
  add('stream', {})
  state.checkTakes = 10
  changes.applyAnnouncement([change('session', 'x0')])
  await pass()
  const { checks } = state
  for (let at = 0; at < 100; at++) {
    changes.applyAnnouncement([change('session', `x${at}`)])
    await pass(1)
  }
  t.equal(state.checks, checks, 'it rests')
  state.checkTakes = 0
  await pass(100)
  t.ok(state.checks > checks)
  state.checkTakes = 10
  changes.applyAnnouncement([change('session', 'x')])
  await pass()
  const stream = add('another', { session: 's9' })
  changes.applyAnnouncement(revocation(5, change('session', 's9', 5)))
  await pass()
  t.equal(stream.cut, 'token_revoked')
})

t.test('hundreds of exchanges are cut in several turns', async (t) => {
  const { changes, add, pass } = setUp()
  const all = Array.from({ length: 250 }, (_, at) => add(`s${at}`, {}))
  changes.applyAnnouncement(revocation(1, change('session', 's1')))
  await pass()
  t.ok(all.every(({ cut }) => cut === 'token_revoked'))
  t.same(await changes.cutBy(1), { websockets: 0, streams: 250, requests: 0 })
})

t.test('other events run between the decisions on hundreds of exchanges', async (t) => {
  const { changes, state, add, pass } = setUp()
  state.next = () => refusal
  for (let at = 0; at < 250; at++) add(`s${at}`, { session: 's2' })
  changes.applyAnnouncement(revocation(1))
  const atTurns = new Set<number>()
  const [passed, turns] = [pass(), 20]
  for (let turn = 0; turn < turns; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    atTurns.add(state.decided.length)
  }
  await passed
  t.equal(state.decided.length, 250)
  t.ok(atTurns.size >= 3, 'not in one turn')
})

t.test('a decision that takes long holds up no other', async (t) => {
  const { changes, state, add, pass } = setUp()
  const all = Array.from({ length: 250 }, (_, at) => add(`s${at}`, { session: 's2' }))
  const { promise, resolve } = Promise.withResolvers<Refusal | null>()
  state.next = () => (state.decided.length === 1 ? promise : refusal)
  changes.applyAnnouncement(revocation(1))
  await pass()
  t.equal(all.filter(({ cut }) => cut !== null).length, 249)
  resolve(refusal)
  t.same(await changes.cutBy(1), { websockets: 0, streams: 250, requests: 0 })
})

t.test('an exchange that cannot be cut is tried again, and holds up no other', async (t) => {
  const { changes, state, add, pass } = setUp()
  const [first, second] = [add('first', {}), add('second', {})]
  Object.defineProperty(first, 'cut', {
    get: () => null,
    set: () => {
      throw new Error('no log')
    },
    configurable: true,
  })
  changes.applyAnnouncement(revocation(1, change('session', 's1')))
  await pass()
  t.equal(second.cut, 'token_revoked')
  t.equal(await changes.cutBy(1), null, 'it is not known')
  Object.defineProperty(first, 'cut', { value: null, writable: true })
  state.next = () => refusal
  await pass(2000)
  changes.applyAnnouncement([change('session', 'another')])
  await pass()
  t.equal(first.cut, 'caller_blocked')
})

t.test('a notice of a newer version: everything is decided again, and the count is not known', async (t) => {
  const { changes, add, state, pass } = setUp()
  add('stream', {})
  const notice = JSON.stringify({ at: 1000, subject: { region: 'eu' } })
  await pass(5000)
  changes.applyAnnouncement([change('revocation', notice)])
  await pass()
  t.same(state.decided, ['stream'])
  t.equal(await changes.cutBy(1), null)
})
