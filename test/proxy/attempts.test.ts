/** The loop of attempts, with given results: which target is next, what may be repeated, and what the last refusal says. */

import t, { type Test } from 'tap'
import {
  BodyTimeout,
  ClientClosed,
  ConnectionLost,
  Evicted,
  NotForwardable,
  ProtocolError,
  SlowClient,
  Unprocessed,
} from '../../src/http/client/upstream-request.ts'
import { Exchange } from '../../src/http/server/exchange.ts'
import type { Refusal } from '../../src/model/errors.ts'
import { nextHop } from '../../src/http/server/next-hop.ts'
import { type AttemptOwner, Attempts } from '../../src/proxy/attempts.ts'
import { Target } from '../../src/proxy/target.ts'
import type { Retry } from '../../src/proxy/upstream-events.ts'
import { EJECTION } from '../../src/proxy/upstream-options.ts'
import type { UpstreamOptions } from '../../src/proxy/upstream-options.ts'
import { Upstream } from '../../src/proxy/upstream.ts'
import { abandoned } from '../../src/proxy/upstream-faults.ts'
import { holdTime } from '../support/held-time.ts'
import { firstExchange } from '../support/listener.ts'
import { RawClient } from '../support/raw-client.ts'
import { targetsAt, upstreamConfig } from './support.ts'

/** A request without a body, and one whose body has not arrived. */
const requests = {
  get: await requestOf('GET / HTTP/1.1'),
  post: await requestOf('POST / HTTP/1.1', 'Content-Length: 9'),
}

async function requestOf(...lines: string[]): Promise<Exchange> {
  const { port, asked } = await firstExchange(t)
  const client = new RawClient(port).send([...lines, 'Host: gw', '', ''].join('\r\n'))
  t.teardown(() => client.socket.destroy())
  return await asked
}

interface Options extends UpstreamOptions {
  readonly targets?: number
  readonly repeatable?: boolean
  readonly uploads?: boolean
}

/** Records the attempts. No connection is opened: the test says what comes of each. */
class Subject implements AttemptOwner {
  awaitsClient = false
  readonly sent: Target[] = []
  readonly retries: Retry[] = []
  refusal: Refusal | null = null
  cause: unknown = null
  readonly exchange: Exchange
  readonly upstream: Upstream
  readonly attempts: Attempts

  constructor(t: Test, { targets = 1, repeatable = true, uploads = false, ...options }: Options = {}) {
    const { request, response } = uploads ? requests.post : requests.get
    this.exchange = new Exchange(request, response, 'id', 0)
    const ports = Array.from({ length: targets }, (_, i) => i + 1)
    const listener = { onRetry: (retry: Retry) => void this.retries.push(retry) }
    const config = upstreamConfig(0, { ...targetsAt(...ports), connectTimeout: 5, responseTimeout: 1000 })
    this.upstream = new Upstream(config, { listener, ...options })
    this.attempts = new Attempts(this.exchange, this.upstream, repeatable, this)
    t.teardown(() => this.attempts.abandon())
    const target = this.upstream.choose(this.exchange, repeatable, performance.now())
    if (!(target instanceof Target)) throw new Error(target.detail)
    this.attempts.start(target, performance.now())
  }

  send(target: Target): void {
    this.sent.push(target)
  }

  refused(refusal: Refusal, cause: unknown): void {
    this.refusal = refusal
    this.cause = cause
    this.attempts.abandon()
  }

  /** The ports of the targets, in the order of the attempts. */
  get ports(): number[] {
    return this.sent.map(({ url }) => Number(url.port || 80))
  }

  /** The attempt fails before it has a connection, and after that. */
  fails(error: Error): void {
    this.attempts.failed(error)
  }

  connectsAndFails(error: Error): void {
    this.attempts.connected()
    this.attempts.failed(error)
  }

  get pending(): number {
    return this.upstream.targets().reduce((sum, { pending }) => sum + pending, 0)
  }
}

const refusedConnection = () => new ConnectionLost('connect ECONNREFUSED', 'ECONNREFUSED', false)
const reset = () => new ConnectionLost('read ECONNRESET', 'ECONNRESET', false)
const race = () => new ConnectionLost('the upstream closed the connection', 'UPSTREAM_CLOSED', true)

// First: the deadlines of all requests share a timer, which must not be a real one yet.
t.test('a silent upstream is given up; a silent client is not its fault', async (t) => {
  const time = holdTime(t)
  const subject = new Subject(t, { targets: 2 })
  subject.attempts.connected()
  subject.awaitsClient = true
  time.pass(1100)
  t.equal(subject.refusal, null)
  subject.awaitsClient = false
  time.pass(500)
  subject.attempts.progress()
  time.pass(900)
  t.equal(subject.refusal, null, 'progress moves the deadline')
  time.pass(200)
  t.match(subject.refusal, { code: 'upstream_timeout' })
  t.same(subject.ports, [1], 'the target may be working on it')
  const responded = new Subject(t)
  responded.attempts.connected()
  responded.attempts.responded(200)
  time.pass(5000)
  t.equal(responded.refusal, null)
})

t.test('without a connection: two retries, each at a new target; then the request is refused', async (t) => {
  for (const repeatable of [true, false]) {
    const subject = new Subject(t, { targets: 4, repeatable })
    const error = refusedConnection()
    for (let i = 0; i < 3; i++) subject.fails(error)
    t.same(subject.ports, [1, 2, 3])
    t.equal(subject.pending, 0, 'no attempt holds a slot')
    t.match(subject.refusal, { code: 'upstream_unreachable' })
    t.equal(subject.cause, error)
    t.match(subject.retries, [
      { target: 'http://127.0.0.1:1', next: 'http://127.0.0.1:2', cause: error },
      { target: 'http://127.0.0.1:2', next: 'http://127.0.0.1:3', cause: error },
    ])
    t.equal(nextHop.get(subject.exchange)?.target, 'http://127.0.0.1:3')
  }
})

t.test('no retry without another target', async (t) => {
  const subject = new Subject(t)
  subject.fails(refusedConnection())
  t.same(subject.ports, [1])
  t.match(subject.refusal, { code: 'upstream_unreachable' })
})

t.test('a connection that ends: only what may be sent twice is sent again', async (t) => {
  const get = new Subject(t, { targets: 2 })
  get.connectsAndFails(reset())
  t.same(get.ports, [1, 2])
  t.equal(get.refusal, null)
  const post = new Subject(t, { targets: 2, repeatable: false })
  post.connectsAndFails(reset())
  t.same(post.ports, [1])
  t.match(post.refusal, { code: 'upstream_protocol_error' })
})

t.test('after a byte of a response nothing is sent again', async (t) => {
  const subject = new Subject(t, { targets: 2 })
  subject.attempts.connected()
  subject.attempts.responseStarted()
  subject.attempts.failed(reset())
  t.same(subject.ports, [1])
  t.match(subject.refusal, { code: 'upstream_protocol_error' })
  t.match(subject.upstream.targets(), [{ state: 'in' }, { state: 'in' }])
})

t.test('a reused connection that was closed: the same target again, once without budget', async (t) => {
  const retries = { perRequest: 2, share: 0, perSecond: 0 }
  const subject = new Subject(t, { retries })
  subject.connectsAndFails(race())
  t.same(subject.ports, [1, 1])
  subject.connectsAndFails(race())
  t.same(subject.ports, [1, 1], 'the second one counts')
  t.match(subject.refusal, { code: 'upstream_protocol_error' })
  t.match(subject.upstream.targets(), [{ state: 'in' }], 'no fault of the target')
  const post = new Subject(t, { retries, repeatable: false })
  post.connectsAndFails(race())
  t.same(post.ports, [1], 'it may have been processed')
})

t.test('not processed: sent again if nothing of its body is taken', async (t) => {
  for (const goingAway of [true, false]) {
    const intact = new Subject(t, { repeatable: false })
    intact.connectsAndFails(new Unprocessed(goingAway, true))
    t.same(intact.ports, [1, 1])
    const begun = new Subject(t, { repeatable: false })
    begun.connectsAndFails(new Unprocessed(goingAway, false))
    t.same(begun.ports, [1])
    t.match(begun.refusal, { code: 'unavailable', detail: /not processed/ })
  }
})

t.test('the retry budget of the upstream', async (t) => {
  const subject = new Subject(t, { targets: 3, retries: { perRequest: 2, share: 1, perSecond: 0 } })
  subject.fails(refusedConnection())
  subject.fails(refusedConnection())
  t.same(subject.ports, [1, 2], 'one request, one retry')
  t.match(subject.refusal, { code: 'upstream_unreachable' })
})

t.test('faults of the client and limits of the gateway: refused, and no target is blamed', async (t) => {
  const faults: [Error, string, RegExp][] = [
    [new NotForwardable('bytes'), 'request_malformed', /bytes/],
    [new SlowClient('slow'), 'request_timeout', /body/],
    [new Evicted(), 'unavailable', /slowest request was ended/],
    [new BodyTimeout('stopped'), 'upstream_timeout', /in time/],
    [new ProtocolError('malformed'), 'upstream_protocol_error', /valid response/],
    [new ClientClosed('closed'), 'upstream_protocol_error', /valid response/],
  ]
  for (const [error, code, detail] of faults) {
    const subject = new Subject(t, { targets: 2, ejection: { ...EJECTION, failures: 1 } })
    subject.connectsAndFails(error)
    t.same(subject.ports, [1], code)
    t.match(subject.refusal, { code, detail })
    t.match(subject.upstream.targets(), [{ state: 'in' }, { state: 'in' }], code)
  }
  const waiting = new Subject(t)
  waiting.fails(new Evicted())
  t.match(waiting.refusal, { code: 'unavailable', detail: /Nothing was sent to it/ })
})

t.test('failures eject their target, and a connection brings it back', async (t) => {
  const subject = new Subject(t, { targets: 2, ejection: { ...EJECTION, failures: 1 } })
  subject.fails(refusedConnection())
  t.match(subject.upstream.targets(), [{ state: 'ejected' }, { state: 'in' }])
  subject.attempts.connected()
  subject.attempts.responded(200)
  subject.attempts.succeeded()
  t.equal(subject.pending, 0)
  t.ok((nextHop.get(subject.exchange)?.respondedAt ?? 0) > 0)
})

t.test('abandoned: the attempt counts until it ends, and no other follows', async (t) => {
  const subject = new Subject(t, { targets: 2, ejection: { ...EJECTION, failures: 1 } })
  subject.attempts.connected()
  subject.attempts.abandon()
  t.equal(subject.pending, 1)
  subject.attempts.failed(abandoned)
  t.equal(subject.pending, 0)
  subject.attempts.failed(reset())
  t.equal(subject.attempts.end(), null, 'once')
  t.same([subject.pending, subject.ports, subject.refusal], [0, [1], null])
  t.match(subject.upstream.targets(), [{ state: 'in' }, { state: 'in' }])
  const lost = new Subject(t, { targets: 2, ejection: { ...EJECTION, failures: 1 } })
  lost.attempts.connected()
  lost.attempts.abandon()
  lost.attempts.failed(reset())
  t.match(lost.upstream.targets(), [{ state: 'ejected' }, { state: 'in' }], 'its result still counts')
  t.same([lost.ports, lost.refusal], [[1], null])
})

t.test(
  'a body that is arriving holds an upload slot of each target in turn, until it is there',
  async (t) => {
    const subject = new Subject(t, { targets: 2, uploads: true, repeatable: false })
    const uploads = () => subject.sent.map((target) => target.uploads)
    t.same(uploads(), [1])
    subject.fails(refusedConnection())
    t.same(uploads(), [0, 1])
    subject.attempts.uploaded()
    subject.attempts.uploaded()
    t.same(uploads(), [0, 0])
    t.equal(subject.pending, 1)
    subject.attempts.end()
    t.same([uploads(), subject.pending], [[0, 0], 0])
    t.same(new Subject(t).sent[0]?.uploads, 0, 'a request without a body holds none')
  },
)
