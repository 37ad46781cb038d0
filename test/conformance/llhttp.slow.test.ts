/**
 * The messages of the tests of llhttp, which Node.js reads HTTP/1.1 with: a request that llhttp refuses does not reach the
 * upstream, and a response that it refuses does not reach the client as a whole; what is well-formed passes.
 */

import t from 'tap'
import { startGateway } from '../hostile/gateway.ts'
import { HostileUpstream } from '../hostile/hostile-upstream.ts'
import { until } from '../support/until.ts'
import { type Message, messagesOf } from './llhttp.ts'
import { compare } from './page.ts'
import { absent, places } from './places.ts'

const skip = absent(places.llhttp)
/** Methods of other protocols that llhttp knows. */
const METHODS = 'methods: [LIST, M-SEARCH, PURGE, QUERY, SEARCH, SOURCE]'

t.test('requests', { skip }, async (t) => {
  const gateway = await startGateway(t, { routes: ['ANY /*: public'], top: [METHODS] })
  const results = new Map<string, string | null>()
  for (const message of messagesOf(places.llhttp, 'request')) {
    const { all } = await gateway.send(withHost(message), { finish: true })
    await until(() => gateway.upstream.settled, `the end of ${message.name}`)
    const forwarded = gateway.upstream.requests.filter(({ whole }) => whole).length
    const answers = all.map(({ status, code }) => `${status} ${code ?? ''}`).join(', ')
    results.set(message.name, deviation(message, forwarded, answers))
    gateway.forget()
  }
  compare(t, 'llhttp requests', results)
})

t.test('responses', { skip }, async (t) => {
  const upstream = await HostileUpstream.start(t)
  const results = new Map<string, string | null>()
  for (const message of messagesOf(places.llhttp, 'response')) {
    const { all, text } = await upstream.play({ packets: message.bytes, after: (socket) => socket.end() })
    const forwarded = all.filter(({ code }) => code === null).length
    // The rest answers requests that were not sent.
    const interim = message.bytes.match(/^HTTP\/1\.1 1(?!01)/gm)?.length ?? 0
    const complete = Math.min(message.complete - interim, 1)
    results.set(message.name, deviation({ ...message, complete }, forwarded, text.slice(0, 80)))
  }
  compare(t, 'llhttp responses', results)
})

function deviation({ complete, isMalformed }: Message, forwarded: number, detail: string): string | null {
  if (isMalformed) return forwarded > complete ? `malformed, and forwarded: ${detail}` : null
  return forwarded < complete ? `well-formed, and refused: ${detail}` : null
}

/** Most requests of llhttp lack `Host`, and would be refused for that alone (RFC 9112, section 3.2). */
function withHost({ bytes, begins }: Message): string {
  const parts = begins.map((begin, i) => bytes.slice(begin, begins[i + 1]))
  return bytes.slice(0, begins[0]) + parts.map(withOwnHost).join('')
}

function withOwnHost(request: string): string {
  if (/^host:/im.test(request)) return request
  const [, authority = 'a'] = /^\S+ http:\/\/([^\s/?]+)/.exec(request) ?? []
  return request.replace(/^[\r\n]*[^\n]*\n/, (line) => `${line}Host: ${authority}\r\n`)
}
