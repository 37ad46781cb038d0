/** Built-in endpoints over a real socket: the input of their handlers, and their responses. */

import { performance } from 'node:perf_hooks'
import t, { type Test } from 'tap'
import { Refusal } from '../../src/model/errors.ts'
import { Exchange } from '../../src/http/server/exchange.ts'
import { type ResolvedSeats, PathParams } from '../../src/model/decision.ts'
import type { LocalHandler, LocalRequest } from '../../src/model/route.ts'
import type { ClientRequest } from '../../src/http/server/client-request.ts'
import type { ClientResponse } from '../../src/http/server/client-response.ts'
import { heldPermissions } from '../../src/decision/seats/held-permissions.ts'
import { EventStreams } from '../../src/pipeline/event-streams.ts'
import { serveLocal } from '../../src/pipeline/stages/serve-local.ts'
import { isAwaited, openListener } from '../support/listener.ts'
import { codeOf, evaluationOf, refuse, routeTo, valuesOf } from '../proxy/support.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { traceFrom } from '../decision/trace.ts'

const NO_STORE = { wholeSeat: () => Promise.reject(new Error('no store')) }

const GRANTS: ResolvedSeats = {
  by: 'name',
  entries: [
    {
      name: 'Trainer',
      seat: {
        id: '1',
        name: 'Trainer',
        complete: true,
        spaces: new Set(['north']),
        permissions: new Set(['seats:create']),
      },
      nameGivenUp: false,
    },
  ],
}

async function local(t: Test, handler: LocalHandler, publicRoute = false) {
  const causes: unknown[] = []
  const exchanges: Exchange[] = []
  const handle = (request: ClientRequest, response: ClientResponse) => {
    const exchange = new Exchange(request, response, 'id-1', performance.now(), isAwaited(request))
    const target = { kind: 'local' as const, handler }
    const maxBody = 1024 * 1024
    const route = routeTo(publicRoute ? { requirement: 'public', target, maxBody } : { target, maxBody })
    const evaluation = {
      ...evaluationOf(request, route),
      params: new PathParams(['id'], ['x']),
    }
    exchange.evaluation = evaluation
    exchanges.push(exchange)
    const failed = (failing: Exchange, cause: unknown) => {
      causes.push(cause)
      refuse(failing, new Refusal('unavailable', ''), cause)
    }
    const stage = serveLocal({
      reevaluate: async () => evaluation,
      held: () => heldPermissions(NO_STORE, 'acme', GRANTS, 'north', traceFrom()),
      refuse,
      failed,
      bodyTimeout: 60_000,
      streams: new EventStreams(),
    })
    void stage(exchange, () => {
      throw new Error('the endpoint is built in')
    })
    return exchange
  }
  const listener = await openListener(handle)
  t.teardown(() => listener.close(0))
  return { port: listener.address.port, causes, exchanges }
}

const JSON_TYPE = 'Content-Type: application/json'

function send(method: string, body: string, ...lines: string[]): string {
  const length = body === '' ? [] : [`Content-Length: ${body.length}`]
  return [
    `${method} /v1/seats?limit=1&after=x HTTP/1.1`,
    'Host: gw',
    ...lines,
    ...length,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}

const echo: LocalHandler = async ({ body }) => ({ status: 200, body: { got: body ?? null } })

t.test('the handler gets the caller, its grants and the request', async (t) => {
  let received: LocalRequest | undefined
  const { port, exchanges } = await local(t, async (request) => {
    received = request
    return { status: 200, body: { id: 'ü' } }
  })
  const answer = await roundTrip(port, send('POST', '{"a":[1]}', JSON_TYPE))
  t.match(received, {
    params: { id: 'x' },
    query: 'limit=1&after=x',
    body: { a: [1] },
    principal: { user: 'alice', tenant: 'acme' },
    space: 'north',
  })
  t.same(await received?.held(0), { all: false, permissions: new Set(['seats:create']) })
  t.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
  t.same(valuesOf(answer, 'content-type'), ['application/json'])
  t.same(valuesOf(answer, 'content-length'), ['11'])
  t.same(valuesOf(answer, 'cache-control'), ['no-store'])
  t.same(valuesOf(answer, 'x-request-id'), ['id-1'])
  t.match(exchanges[0], { bytesIn: 9, bytesOut: 11 })
})

t.test('204 has no body and no length, HEAD the length alone', async (t) => {
  const { port } = await local(t, async ({ params }) =>
    params.id === 'x' ? { status: 204 } : { status: 500 },
  )
  const deleted = await roundTrip(port, send('DELETE', ''))
  t.match(deleted, /^HTTP\/1\.1 204 No Content\r\n/)
  t.same([...valuesOf(deleted, 'content-length'), ...valuesOf(deleted, 'transfer-encoding')], [])
  t.ok(deleted.endsWith('\r\n\r\n'))
  const { port: read } = await local(t, echo)
  const head = await roundTrip(read, send('HEAD', ''))
  t.same(valuesOf(head, 'content-length'), ['12'])
  t.ok(head.endsWith('\r\n\r\n'))
})

t.test('media types', async (t) => {
  const { port } = await local(t, echo)
  for (const type of [
    'application/json',
    'Application/JSON',
    'application/json;charset=utf-8',
    'application/json ; charset="UTF-8"',
  ])
    t.match(await roundTrip(port, send('PUT', '{}', `Content-Type: ${type}`)), /^HTTP\/1\.1 200 /, type)
  for (const lines of [
    [],
    ['Content-Type:'],
    ['Content-Type: text/plain'],
    ['Content-Type: application/json; charset=latin1'],
    ['Content-Type: application/json; charset=utf-8; x=y'],
    ['Content-Type: application/json, text/plain'],
    ['Content-Type: application/jsonp'],
    ['Content-Type: application/merge-patch+json'],
    [JSON_TYPE, 'Content-Type: text/plain'],
    [JSON_TYPE, 'Content-Encoding: gzip'],
    [JSON_TYPE, 'Content-Encoding: identity, gzip'],
  ]) {
    const answer = await roundTrip(port, send('PUT', '{}', ...lines))
    t.match(answer, /^HTTP\/1\.1 415 /, lines.join())
    t.equal(codeOf(answer), 'media_type_unsupported')
  }
  t.match(
    await roundTrip(port, send('PUT', '{}', JSON_TYPE, 'Content-Encoding: identity')),
    /^HTTP\/1\.1 200 /,
  )
})

t.test('no body is undefined with any type; an announced empty one is invalid JSON', async (t) => {
  const { port } = await local(t, async ({ body }) => ({ status: 200, body: [typeof body] }))
  t.match(await roundTrip(port, send('POST', '')), /\["undefined"\]$/)
  t.match(await roundTrip(port, send('POST', '', JSON_TYPE, 'Content-Length: 0')), /\["undefined"\]$/)
  const empty = `POST / HTTP/1.1\r\nHost: gw\r\n${JSON_TYPE}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n`
  t.equal(codeOf(await roundTrip(port, empty)), 'input_invalid')
})

t.test('invalid JSON is reported with a position', async (t) => {
  const { port } = await local(t, echo)
  for (const body of [
    '{',
    'nul',
    '{"a":1,"a":2}',
    '\xff\xfe',
    '"\xc3\x28"',
    '\xef\xbb\xbf{}',
    '{}{}',
    ' ',
    '\0',
  ]) {
    const answer = await roundTrip(port, send('POST', body, JSON_TYPE))
    t.match(answer, /^HTTP\/1\.1 400 /, JSON.stringify(body))
    t.equal(codeOf(answer), 'input_invalid')
    t.match(answer, /"errors":\[\{"path":"","message":"[^"]+"\}\]/)
  }
})

t.test('1 MiB passes, one byte more does not, in either framing', async (t) => {
  const { port } = await local(t, async ({ body }) => ({ status: 200, body: String(body).length }))
  const text = (length: number) => JSON.stringify('a'.repeat(length - 2))
  const chunked = (body: string) =>
    `POST / HTTP/1.1\r\nHost: gw\r\n${JSON_TYPE}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  const limit = 1024 * 1024
  t.match(await roundTrip(port, send('POST', text(limit), JSON_TYPE)), /^HTTP\/1\.1 200 /)
  t.match(await roundTrip(port, chunked(text(limit))), /^HTTP\/1\.1 200 /)
  t.equal(codeOf(await roundTrip(port, send('POST', text(limit + 1), JSON_TYPE))), 'body_too_large')
  t.equal(codeOf(await roundTrip(port, chunked(text(limit + 1)))), 'body_too_large')
})

t.test('a refusal becomes a response; exceptions go to the one place that handles them', async (t) => {
  const refusing = await local(t, async () => new Refusal('seat_not_found', 'none'))
  t.match(await roundTrip(refusing.port, send('GET', '')), /^HTTP\/1\.1 404 [\s\S]*seat_not_found/)
  const cause = new Error('the store is away')
  const throwing = await local(t, async () => {
    throw cause
  })
  t.equal(codeOf(await roundTrip(throwing.port, send('GET', ''))), 'unavailable')
  const atOnce = await local(t, () => {
    throw cause
  })
  t.equal(codeOf(await roundTrip(atOnce.port, send('GET', ''))), 'unavailable')
  t.same([...throwing.causes, ...atOnce.causes], [cause, cause])
})

t.test('a handler is never called without a caller', async (t) => {
  let reached = false
  const { port } = await local(
    t,
    async () => {
      reached = true
      return { status: 204 }
    },
    true,
  )
  t.equal(codeOf(await roundTrip(port, send('GET', ''))), 'unavailable')
  t.equal(reached, false)
})

t.test('an unread body is not read as the next request', async (t) => {
  const { port, exchanges } = await local(t, echo)
  const hidden = 'GET /admin HTTP/1.1\r\nHost: x\r\n\r\n'
  const wire = new RawClient(port).send(
    `DELETE / HTTP/1.1\r\nHost: gw\r\nContent-Length: ${hidden.length}\r\n\r\n`,
  )
  wire.send(`${hidden}GET /next HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n`)
  t.equal((await wire.ended).match(/"got":null/g)?.length, 2)
  t.same(
    exchanges.map(({ request }) => request.url),
    ['/', '/next'],
  )
})

t.test('an endless one neither', async (t) => {
  const { port } = await local(t, echo)
  const wire = new RawClient(port).send('DELETE / HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n')
  let sent = 0
  const timer = setInterval(() => {
    sent++
    wire.send(`10000\r\n${'a'.repeat(65536)}\r\n`)
  }, 5)
  t.equal(codeOf(await wire.ended), 'body_too_large')
  clearInterval(timer)
  t.ok(sent < 200, `after ${sent} chunks`)
})

t.test('100 Continue is sent when the body is read', async (t) => {
  const { port } = await local(t, echo)
  const head = (type: string) =>
    `POST / HTTP/1.1\r\nHost: gw\r\nContent-Type: ${type}\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`
  const wire = new RawClient(port).send(head('application/json'))
  t.equal(await wire.until('\r\n\r\n'), 'HTTP/1.1 100 Continue\r\n\r\n')
  wire.send('{}')
  await wire.until('{"got":{}}')
  wire.socket.destroy()
  t.match(await new RawClient(port).send(head('text/plain')).ended, /^HTTP\/1\.1 415 /)
})

t.test('a client that disconnects within its body reaches no handler', async (t) => {
  let reached = false
  const { port, exchanges } = await local(t, async () => {
    reached = true
    return { status: 204 }
  })
  const wire = new RawClient(port).send(
    `POST / HTTP/1.1\r\nHost: gw\r\n${JSON_TYPE}\r\nContent-Length: 4\r\n\r\n{}`,
  )
  await until(() => exchanges[0]?.bytesIn === 2, 'the first bytes of the body')
  wire.socket.destroy()
  await until(() => exchanges[0]?.response.destroyed === true, 'the end of the response')
  t.equal(reached, false)
})

t.test('an unused body is read before the handler runs, and has the same limit', async (t) => {
  let served = 0
  const { port } = await local(t, async () => {
    served++
    return { status: 204 }
  })
  const limit = 1024 * 1024
  const chunked = (method: string, length: number) =>
    `${method} / HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${length.toString(16)}\r\n${'a'.repeat(length)}\r\n0\r\n\r\n`
  for (const method of ['DELETE', 'GET']) {
    t.match(await roundTrip(port, send(method, 'a'.repeat(limit))), /^HTTP\/1\.1 204 /)
    t.match(await roundTrip(port, chunked(method, limit)), /^HTTP\/1\.1 204 /)
    t.equal(served, 2)
    t.equal(codeOf(await roundTrip(port, send(method, 'a'.repeat(limit + 1)))), 'body_too_large')
    t.equal(codeOf(await roundTrip(port, chunked(method, limit + 1))), 'body_too_large')
    t.equal(served, 2, 'the handler did not run')
    served = 0
  }
})
