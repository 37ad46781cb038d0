/** Pipelining: each request gets its response, in order, in any split of the bytes. */

import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Exchange } from '../../../src/http/server/exchange.ts'
import type { ClientRequest } from '../../../src/http/server/client-request.ts'
import type { ClientResponse } from '../../../src/http/server/client-response.ts'
import { ResponseFields } from '../../../src/http/wire/response-fields.ts'
import { openListener } from '../../support/listener.ts'
import { RawClient } from '../../support/raw-client.ts'
import { until } from '../../support/until.ts'

/** Echoes targets, at once or on demand. */
async function echo(t: Test) {
  const waiting: (() => void)[] = []
  const sockets: ClientRequest['socket'][] = []
  const answer = (response: ClientResponse, target: string) => {
    response.writeHead(200, ResponseFields.of(['content-length', String(target.length + 1)]))
    response.end(`${target};`)
  }
  const listener = await openListener((request, response) => {
    if (request.length > 0) request.deliver({ data: () => {}, end: () => {}, aborted: () => {} })
    waiting.push(() => answer(response, request.url))
    sockets.push(request.socket)
    return new Exchange(request, response, 'id', 0)
  })
  t.teardown(() => listener.close(0))
  const next = async () => {
    await until(() => waiting.length > 0, 'the request')
    waiting.shift()?.()
  }
  /** The listener has read so many bytes. */
  const read = (bytes: number) => until(() => sockets[0]?.bytesRead === bytes, 'the bytes')
  return { wire: new RawClient(listener.address.port), next, read }
}

const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`

t.test('a third request after a pipelined second one', async (t) => {
  const { wire, next, read } = await echo(t)
  wire.send(get('/1'))
  await read(get('/1').length)
  wire.send(get('/2'))
  await read(get('/1').length + get('/2').length)
  await next()
  await wire.until('/1;')
  await next()
  await wire.until('/2;')
  wire.send(get('/3'))
  await next()
  await wire.until('/3;')
  t.match(wire.received, /\/1;[\s\S]*\/2;[\s\S]*\/3;/)
  wire.socket.destroy()
})

t.test('pieces of any size, some with bodies, answered at random times', async (t) => {
  const { wire, next } = await echo(t)
  wire.socket.setNoDelay(true)
  const targets = Array.from({ length: 60 }, (_, i) => `/${i}`)
  const texts = targets.map((target, i) => {
    if (i % 3 === 0) return get(target)
    const body = 'x'.repeat(i * 400)
    return `POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  })
  const sent = (async () => {
    let text = texts.join('')
    for (let i = 0; text !== ''; i++) {
      const size = (i * 7919) % 5000
      wire.send(text.slice(0, size))
      text = text.slice(size)
      if (i % 4 === 0) await sleep(1)
    }
  })()
  for (const target of targets) {
    if (target.endsWith('5')) await sleep(10)
    await next()
    await wire.until(`${target};`)
  }
  await sent
  t.same(
    [...wire.received.matchAll(/(\/\d+);/g)].map((each) => each[1]),
    targets,
  )
  wire.socket.destroy()
})

t.test('a client that ends its side after a request gets the response', async (t) => {
  const listener = await openListener((request, response) => {
    response.writeHead(200, ResponseFields.of(['content-length', '2']))
    response.end('ok')
    return new Exchange(request, response, 'id', 0)
  })
  t.teardown(() => listener.close(0))
  const wire = new RawClient(listener.address.port)
  wire.socket.end(get('/1'))
  t.match(await wire.ended, /^HTTP\/1\.1 200 OK[\s\S]*ok$/)
})
