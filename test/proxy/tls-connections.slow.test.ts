/** Bytes over TLS arrive complete and in order, for the right request, in any split into records. */

import { createHash, randomBytes } from 'node:crypto'
import { connect, createServer, type Socket } from 'node:net'
import { createSecureContext, type SecureContextOptions, TLSSocket, type TLSSocketOptions } from 'node:tls'
import t, { type Test } from 'tap'
import { Authority } from './authority.ts'
import { codeOf, type Front, front, type FrontOptions, get, standstill } from './support.ts'
import { listen } from '../support/listen.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

const authority = new Authority()
const identity = authority.issue({ names: ['127.0.0.1'] })
const MEBIBYTE = 1024 * 1024

const sized = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`

interface Speaking {
  /** @param below the connection under TLS */
  onSocket(socket: TLSSocket, below: Socket): void
  readonly context?: SecureContextOptions
  readonly more?: TLSSocketOptions
}

/** A raw upstream. */
function serve(t: Test, { onSocket, context = {}, more = {} }: Speaking): Promise<number> {
  const secureContext = createSecureContext({ ...identity, ...context })
  const server = createServer({ noDelay: true }, (below) => {
    const socket = new TLSSocket(below, { ...more, isServer: true, secureContext })
    socket.on('error', () => {})
    onSocket(socket, below)
  })
  return listen(t, server)
}

function gatewayPort(t: Test, ports: readonly number[], more: FrontOptions = {}): Promise<Front> {
  const targets = ports.map((port) => new URL(`https://127.0.0.1:${port}`))
  return front(t, 0, { targets, tls: { ca: authority.cert }, ...more })
}

/** A message as it arrives: its body is too large to keep. */
class Body {
  head = ''
  length = 0
  readonly hash = createHash('sha256')

  take(bytes: Buffer): void {
    const before = this.head.length
    if (this.head.endsWith('\r\n\r\n')) return this.#count(bytes)
    const text = this.head + bytes.toString('latin1')
    const end = text.indexOf('\r\n\r\n')
    this.head = end < 0 ? text : text.slice(0, end + 4)
    if (end >= 0) this.#count(bytes.subarray(end + 4 - before))
  }

  #count(part: Buffer): void {
    this.length += part.length
    this.hash.update(part)
  }
}

for (const fragment of [700, 16_384]) {
  t.test(`records of ${fragment}, to a client that pauses: nothing lost, nothing repeated`, async (t) => {
    const block = randomBytes(MEBIBYTE)
    const blocks = 64
    const given = createHash('sha256')
    let sent = 0
    const onSocket = (socket: TLSSocket) => {
      const more = () => {
        let room = true
        while (room && sent < blocks) {
          const next = Buffer.from(block)
          next.writeUInt32BE(sent++)
          given.update(next)
          room = socket.write(next)
        }
      }
      socket.once('data', () => {
        socket.setMaxSendFragment(fragment)
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${blocks * MEBIBYTE}\r\n\r\n`)
        socket.on('drain', more)
        more()
      })
    }
    const { port } = await gatewayPort(t, [await serve(t, { onSocket })])
    const client = connect(port, '127.0.0.1').pause()
    client.write(get())
    await until(() => sent > 0, 'the response of the upstream')
    const stopped = await standstill(() => sent)
    t.ok(stopped < 40, `${stopped} MiB were read from the upstream`)
    const got = new Body()
    for await (const chunk of client as AsyncIterable<Buffer>) got.take(chunk)
    t.match(got.head, /^HTTP\/1\.1 200 OK\r\n/)
    t.equal(got.hash.digest('hex'), given.digest('hex'))
  })
}

t.test('a second response in a record of its own does not reach a waiting request', async (t) => {
  let connections = 0
  const onSocket = (socket: TLSSocket) => {
    const evil = ++connections === 1
    socket.on('data', () => {
      socket.write(sized('good'))
      if (evil) socket.write(sized('EVIL'))
    })
  }
  const { port } = await gatewayPort(t, [await serve(t, { onSocket })], { connections: 1 })
  const answers = await Promise.all(
    ['/1', '/2', '/3'].map((path) => roundTrip(port, get().replace('/a', path))),
  )
  for (const answer of answers) t.ok(answer.endsWith('\r\n\r\ngood'), answer)
  t.equal(connections, 2, 'that connection is not reused')
})

t.test('bytes with the end of the handshake belong to no response', async (t) => {
  let requests = 0
  const onSocket = (socket: TLSSocket) => {
    socket.write(sized('EVIL'))
    socket.on('data', () => requests++)
  }
  // In TLS 1.3 it comes later, when the request may be sent already.
  const { port, exchanges } = await gatewayPort(t, [
    await serve(t, { onSocket, context: { maxVersion: 'TLSv1.2' } }),
  ])
  const answer = await roundTrip(port, get())
  t.equal(codeOf(answer), 'upstream_unreachable')
  t.match(exchanges[0]?.cause, { message: 'bytes on an idle connection' })
  t.equal(requests, 0, 'nothing was sent there')
})

t.test('ALPN offers HTTP/1.1 only', async (t) => {
  const offered: string[][] = []
  const ALPNCallback = ({ protocols }: { protocols: string[] }) => {
    offered.push(protocols)
    return 'http/1.1'
  }
  const onSocket = (socket: TLSSocket) => void socket.on('data', () => socket.write(sized('ok')))
  const { port } = await gatewayPort(t, [await serve(t, { onSocket, more: { ALPNCallback } })])
  t.match(await roundTrip(port, get()), /^HTTP\/1\.1 200 /)
  t.same(offered, [['http/1.1']])
  const other = await gatewayPort(t, [await serve(t, { onSocket, more: { ALPNProtocols: ['h2'] } })])
  t.equal(
    codeOf(await roundTrip(other.port, get())),
    'upstream_unreachable',
    'a target that requires another protocol',
  )
})

// Bodies without a length are excluded: Node does not report whether TLS or the TCP connection ended.
for (const [name, bytes] of Object.entries({
  'a length': 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody',
  chunks: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n',
})) {
  t.test(`${name}, truncated below TLS: a partial response is not complete`, async (t) => {
    const onSocket = (socket: TLSSocket, below: Socket) =>
      void socket.on('data', () => socket.write(bytes, () => below.end()))
    const { port, exchanges } = await gatewayPort(t, [await serve(t, { onSocket })])
    const answer = await roundTrip(port, get())
    t.notMatch(answer, /\r\n0\r\n/)
    t.equal(exchanges[0]?.refusal?.code, 'upstream_protocol_error')
  })
}

t.test('bytes that are not TLS: a malformed response, not a plain end', async (t) => {
  const bad = await serve(t, {
    onSocket: (socket, below) => void socket.on('data', () => below.write('HTTP/1.1 200 OK\r\n\r\n')),
  })
  const good = await serve(t, {
    onSocket: (socket) => void socket.on('data', () => socket.write(sized('ok'))),
  })
  const { port, exchanges } = await gatewayPort(t, [bad, good])
  const answers = [await roundTrip(port, get()), await roundTrip(port, get())]
  t.same(answers.map(codeOf).sort(), ['upstream_protocol_error', undefined], 'not retried at another target')
  const refused = exchanges.find(({ refusal }) => refusal !== null)
  t.match(refused?.cause, { code: /^ERR_SSL_/ })
})

t.test("an upload larger than a connection's buffers", async (t) => {
  const body = randomBytes(8 * MEBIBYTE)
  const got = new Body()
  const onSocket = (socket: TLSSocket) =>
    void socket.on('data', (bytes) => {
      got.take(bytes as Buffer)
      if (got.length === body.length) socket.write(sized('ok'))
    })
  const { port } = await gatewayPort(t, [await serve(t, { onSocket })])
  const wire = new RawClient(port).send(
    `POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  wire.socket.write(body)
  await wire.until('\r\n\r\nok')
  t.equal(got.hash.digest('hex'), createHash('sha256').update(body).digest('hex'))
  wire.socket.destroy()
})
