/** Faults on the way to a gateway: each kind has its text, with what to do next. */

import { createServer as createTlsServer } from 'node:https'
import { createServer, type AddressInfo, type Server } from 'node:net'
import t, { type Test } from 'tap'
import { Gateway } from '../../../src/cli/remote/gateway-client.ts'
import { Authority } from '../../proxy/authority.ts'
import { startUpstream, startWorld } from '../../support/world.ts'

const TIMEOUT = 60_000

/** @param options `post`: a change in place of a reading */
async function failure(
  url: string,
  options: { ca?: string; timeout?: number; post?: boolean } = {},
): Promise<string> {
  const { ca, timeout = TIMEOUT, post = false } = options
  const gateway = new Gateway({
    url: new URL(url),
    key: 'sk_secret-of-this-test',
    space: 'admin',
    ca,
    timeout,
  })
  try {
    if (post) await gateway.send('/v1/seats', { method: 'POST', body: { name: 'A' } })
    else await gateway.get('/v1/seats')
    return 'no failure'
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  } finally {
    await gateway.close()
  }
}

async function portOf(t: Test, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** Answers any bytes with the given ones, and ends. */
function answering(t: Test, bytes: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(bytes))
  })
  return portOf(t, server)
}

const ADDRESS = /give the address of the gateway with --url or SEATGATE_URL/

t.test('faults before anything is sent: no doubt about a change', async (t) => {
  const authority = new Authority()
  const tls = createTlsServer(authority.issue({ names: ['gateway.test'] }), (_, response) => response.end())
  tls.on('tlsClientError', () => {})
  const port = await portOf(t, tls)
  const plain = new URL((await startUpstream(t, (_, response) => response.end('x'))).url)
  const silent = await portOf(
    t,
    createServer((socket) => void socket.on('error', () => {})),
  )
  const cases: [url: string, options: object, texts: RegExp[]][] = [
    ['http://127.0.0.1:9', {}, [/no program listens there \(ECONNREFUSED\)\. Start the gateway/, ADDRESS]],
    ['http://gateway.invalid', {}, [/no address is known for the name gateway\.invalid \(E\w+\)/, ADDRESS]],
    [`https://127.0.0.1:${port}`, {}, [/its certificate is not trusted \(\w+\)/, /--ca FILE/]],
    [
      `https://127.0.0.1:${port}`,
      { ca: authority.cert },
      [/its certificate is not for the name 127\.0\.0\.1/],
    ],
    [`https://${plain.host}`, {}, [/does not speak TLS/, new RegExp(`give http://${plain.host} with --url`)]],
    [`https://127.0.0.1:${silent}`, { timeout: 100 }, [/in 100 ms/, /--timeout waits longer/]],
  ]
  await Promise.all(
    cases.map(async ([url, options, texts]) => {
      const message = await failure(url, { ...options, post: true })
      t.match(message, `the request to ${new URL(url).origin} failed: `)
      for (const text of texts) t.match(message, text, url)
      if (!message.includes('in 100 ms')) t.notMatch(message, 'may have been made', url)
      t.notMatch(message, 'secret')
    }),
  )
})

t.test('plain HTTP to a port for TLS', async (t) => {
  const closing = createTlsServer(new Authority().issue({ names: ['a'] })).on('tlsClientError', () => {})
  const port = await portOf(t, closing)
  const world = await startWorld(t)
  for (const each of [port, await answering(t, '\u0015\u0003\u0003\0\u0002\u0002\n')]) {
    const message = await failure(`http://127.0.0.1:${each}`, { post: true })
    t.match(message, `Where the port is one for TLS, give https://127.0.0.1:${each}`)
    t.match(message, 'The change may have been made')
  }
  t.match(await failure(`https://127.0.0.1:${world.port}`), `give http://127.0.0.1:${world.port}`)
})

t.test('what is no gateway', async (t) => {
  const answers: [status: number, headers: Record<string, string>, text: RegExp][] = [
    [200, {}, /the answer has status 200\. Another program answers there: give the address/],
    [404, {}, /the answer has status 404\. Another program answers there: give the address/],
    [
      307,
      { location: 'http://other.example/x' },
      /It leads to http:\/\/other\.example, which is not followed/,
    ],
    [301, {}, /It leads to elsewhere/],
    [400, {}, /Where the port is one for TLS, give https:/],
    [502, {}, /A proxy answers in place of the gateway: look whether the gateway runs/],
  ]
  for (const [status, headers, text] of answers) {
    const { url } = await startUpstream(t, (_, response) =>
      response.writeHead(status, headers).end('<html>a portal</html>'),
    )
    const message = await failure(url)
    t.match(message, 'does not answer as a Seatgate gateway: ')
    t.match(message, text)
  }
  const other = await answering(t, 'SSH-2.0-OpenSSH_9.9\r\n')
  t.match(await failure(`http://127.0.0.1:${other}`), /the answer is not HTTP\/1\.1/)
})

t.test('a gateway with its endpoints elsewhere', async (t) => {
  const world = await startWorld(t, { top: ['api: { prefix: /_seatgate }'] })
  t.match(
    await failure(`http://127.0.0.1:${world.port}`),
    /404 route_not_found[^]*give its api\.prefix as the path of --url/,
  )
  t.match(await failure(`http://127.0.0.1:${world.port}/_seatgate`), /401 api_key_invalid/)
})
