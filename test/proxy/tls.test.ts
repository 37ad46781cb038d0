/** TLS to targets: the accepted certificates, and the client certificate of the gateway. */

import { createServer, type ServerOptions } from 'node:https'
import type { TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import type { TlsSettings } from '../../src/http/client/connector.ts'
import { EJECTION } from '../../src/proxy/upstream-options.ts'
import { Authority, type Identity } from './authority.ts'
import { codeOf, type Front, front, get } from './support.ts'
import { listen } from '../support/listen.ts'
import { roundTrip } from '../support/raw-client.ts'

const authority = new Authority()
const server = authority.issue({ names: ['localhost', '127.0.0.1'] })
const other = new Authority('Another authority')
const DAY = 86_400_000

function serveTls(t: Test, identity: Identity, more: ServerOptions = {}): Promise<number> {
  const listening = createServer({ ...identity, ...more }, (request, response) => {
    const { servername, authorized } = request.socket as TLSSocket
    response.end(JSON.stringify({ servername, authorized, host: request.headers.host }))
  })
  listening.on('tlsClientError', () => {})
  return listen(t, listening)
}

function startFront(
  t: Test,
  port: number,
  tls: TlsSettings | null,
  host = 'localhost',
  more = {},
): Promise<Front> {
  const config = { targets: [new URL(`https://${host}:${port}`)], ...more }
  return front(t, 0, { ...config, tls, ejection: { ...EJECTION, failures: 1000 } })
}

async function refused(t: Test, { port, exchanges }: Front, cause: object): Promise<void> {
  const answer = await roundTrip(port, get())
  t.match(answer, /^HTTP\/1\.1 502 /)
  t.equal(codeOf(answer), 'upstream_unreachable')
  t.match(exchanges[0]?.cause, cause, 'the log has the reason')
  const { code } = cause as { code: string | RegExp }
  t.notMatch(answer, code, 'only the log has it')
}

t.test('a known authority', async (t) => {
  const port = await serveTls(t, server)
  for (const host of ['localhost', '127.0.0.1']) {
    const { port: gatewayPort } = await startFront(t, port, { ca: authority.cert }, host)
    const answer = await roundTrip(gatewayPort, get())
    t.match(answer, /^HTTP\/1\.1 200 /)
    t.match(answer, `"host":"${host}:${port}"`)
    t.match(answer, host === 'localhost' ? '"servername":"localhost"' : '"servername":false')
  }
})

t.test('one of several', async (t) => {
  const port = await serveTls(t, server)
  const { port: gatewayPort } = await startFront(t, port, { ca: `${other.cert}\n${authority.cert}` })
  t.match(await roundTrip(gatewayPort, get()), /^HTTP\/1\.1 200 /)
})

t.test("the client's Host does not change the expected name of the certificate", async (t) => {
  const port = await serveTls(t, server)
  const { port: gatewayPort } = await startFront(t, port, { ca: authority.cert }, 'localhost', {
    passHost: true,
  })
  const answer = await roundTrip(gatewayPort, get())
  t.match(answer, '"host":"gw.example"')
  t.match(answer, '"servername":"localhost"')
})

t.test('another authority', async (t) => {
  const port = await serveTls(t, server)
  const code = /^(UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_SIGNATURE_FAILURE|UNABLE_TO_GET_ISSUER_CERT_LOCALLY)$/
  await refused(t, await startFront(t, port, { ca: other.cert }), { code })
})

t.test('not trusted by the public authorities', async (t) => {
  const port = await serveTls(t, server)
  await refused(t, await startFront(t, port, null), { code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' })
})

t.test('the environment does not change that', async (t) => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  t.teardown(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED)
  const port = await serveTls(t, server)
  await refused(t, await startFront(t, port, null), { code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' })
})

t.test('self-signed', async (t) => {
  const port = await serveTls(t, new Authority().identity)
  await refused(t, await startFront(t, port, { ca: authority.cert }), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
})

t.test('expired, or not yet valid', async (t) => {
  const ago = (days: number) => new Date(Date.now() - days * DAY)
  const expired = authority.issue({ names: ['localhost'], notBefore: ago(9), notAfter: ago(2) })
  const early = authority.issue({ names: ['localhost'], notBefore: ago(-2), notAfter: ago(-9) })
  const tls = { ca: authority.cert }
  await refused(t, await startFront(t, await serveTls(t, expired), tls), { code: 'CERT_HAS_EXPIRED' })
  await refused(t, await startFront(t, await serveTls(t, early), tls), { code: 'CERT_NOT_YET_VALID' })
})

t.test('for another name', async (t) => {
  const port = await serveTls(t, authority.issue({ names: ['elsewhere.example'] }))
  const code = 'ERR_TLS_CERT_ALTNAME_INVALID'
  for (const host of ['localhost', '127.0.0.1'])
    await refused(t, await startFront(t, port, { ca: authority.cert }, host), { code })
})

t.test('for the configured server_name', async (t) => {
  const port = await serveTls(t, authority.issue({ names: ['trainings.internal'] }))
  const tls = { ca: authority.cert, serverName: 'trainings.internal' }
  const { port: gatewayPort } = await startFront(t, port, tls)
  const answer = await roundTrip(gatewayPort, get())
  t.match(answer, '"servername":"trainings.internal"')
  t.match(answer, `"host":"localhost:${port}"`)
  const wrong = await serveTls(t, server)
  await refused(t, await startFront(t, wrong, tls), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
})

t.test('any certificate, with insecure_skip_verify', async (t) => {
  const port = await serveTls(t, other.issue({ names: ['elsewhere.example'] }))
  const { port: gatewayPort } = await startFront(t, port, { insecureSkipVerify: true })
  t.match(await roundTrip(gatewayPort, get()), /^HTTP\/1\.1 200 /)
})

t.test('a target that requests a client certificate', async (t) => {
  const port = await serveTls(t, server, { ca: authority.cert, requestCert: true, rejectUnauthorized: true })
  const ours = authority.issue({ names: ['gateway.internal'] })
  const { port: gatewayPort } = await startFront(t, port, { ca: authority.cert, ...ours })
  t.match(await roundTrip(gatewayPort, get()), '"authorized":true')
  // In TLS 1.3 a target refuses only after the connection is open, and may just close it.
  for (const tls of [{}, other.issue({ names: ['gateway.internal'] })]) {
    const { port: closed } = await startFront(t, port, { ca: authority.cert, ...tls })
    for (let i = 0; i < 2; i++) t.match(await roundTrip(closed, get()), /^HTTP\/1\.1 502 /)
  }
})

t.test('a connection with a TLS handshake only is new: its end is no keep-alive race', async (t) => {
  const seen: string[] = []
  const act = (die: number) => {
    let requests = 0
    const listening = createServer(server, (request, response) => {
      seen.push(`${request.method} ${request.url}`)
      if (++requests === die) request.socket.destroy()
      else response.end('ok')
    })
    return listen(t, listening)
  }
  const ask = async ({ port }: Front, line: string) =>
    roundTrip(port, `${line} HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n`)
  const fresh = await startFront(t, await act(1), { ca: authority.cert })
  t.equal(codeOf(await ask(fresh, 'GET /1')), 'upstream_protocol_error')
  t.same(seen.splice(0), ['GET /1'], 'no retry')
  const kept = await startFront(t, await act(2), { ca: authority.cert })
  for (const line of ['GET /1', 'GET /2']) t.match(await ask(kept, line), /^HTTP\/1\.1 200 /)
  t.same(seen.splice(0), ['GET /1', 'GET /2', 'GET /2'], 'that was a reused one')
  const posted = await startFront(t, await act(2), { ca: authority.cert })
  await ask(posted, 'GET /1')
  t.equal(codeOf(await ask(posted, 'POST /2')), 'upstream_protocol_error')
  t.same(seen, ['GET /1', 'POST /2'])
})

t.test('settings that contradict each other are reported at load', async (t) => {
  const target = (tls: TlsSettings) => front(t, 0, { targets: [new URL('https://127.0.0.1:1')], tls })
  const { cert, key } = server
  for (const [tls, message] of [
    [{ cert }, /cert and key go together/],
    [{ key }, /cert and key go together/],
    [{ cert, key: authority.issue({ names: ['a'] }).key }, /key values mismatch/],
    [{ serverName: '' }, /server_name/],
    [{ serverName: '127.0.0.1' }, /server_name/],
  ] as const)
    await t.rejects(target(tls), { message })
  await t.rejects(target({ cert, key: 'no key' }), { message: /^(?!.*no key)/ })
})
