/**
 * An upload that is cut, by its client or by a revocation, ends at the upstream by RST. A FIN can be taken for the
 * end of the body: gunicorn ran the application with 5 of 100 bytes.
 */

import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { listen } from '../support/listen.ts'
import { RawClient } from '../support/raw-client.ts'
import { CERTIFICATES } from '../support/servers/tls.ts'
import { startWorld, type World, type WorldOptions } from '../support/world.ts'
import { until } from '../support/until.ts'

interface Seen {
  text: string
  /** How the connection ended; '' while it is open. */
  end: '' | 'FIN' | 'RST'
}

interface Upstream {
  readonly seen: Seen[]
  readonly options: WorldOptions
}

/** Reads requests and never responds. */
async function startReader(t: Test, tls: boolean): Promise<Upstream> {
  const seen: Seen[] = []
  const { cert, key } = CERTIFICATES.server
  const secureContext = createSecureContext({ cert, key })
  const server = createServer((below) => {
    const one: Seen = { text: '', end: '' }
    seen.push(one)
    const ended = (error?: NodeJS.ErrnoException) => {
      if (one.end === '') one.end = error?.code === 'ECONNRESET' ? 'RST' : 'FIN'
    }
    const socket = tls ? new TLSSocket(below, { isServer: true, secureContext }) : below
    socket.on('data', (bytes) => {
      one.text += bytes.toString('latin1')
    })
    socket.on('end', ended).on('error', ended)
    if (tls) below.on('error', ended)
  })
  const target = `${tls ? 'https' : 'http'}://127.0.0.1:${await listen(t, server)}`
  const upstream = tls ? [`tls: { ca: ${JSON.stringify(CERTIFICATES.files.ca)} }`] : []
  return { seen, options: { target, upstream, routes: ['POST /v1/trainings: trainings:create'] } }
}

const FRAMINGS = {
  sized: 'Content-Length: 100\r\n\r\nabcde',
  chunked: 'Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n',
}

let seats = 0

/** An upload that its client has begun, and the id of the Seat that allows it. */
async function begin(world: World, framing: string): Promise<{ wire: RawClient; seat: string }> {
  const name = `Uploader ${++seats}`
  const seat = await world.seat(name, ['s1'], ['trainings:create'])
  const wire = new RawClient(world.port)
  const token = await world.token([`s1:${name}`])
  wire.send(
    `POST /v1/trainings HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nSpace: s1\r\n${framing}`,
  )
  return { wire, seat }
}

const CUTS: Record<string, (wire: RawClient, world: World, seat: string) => Promise<void>> = {
  'the client closes': async ({ socket }) => void socket.end(),
  'the client resets': async ({ socket }) => void socket.resetAndDestroy(),
  'the Seat is deleted': async (wire, world, seat) => {
    await world.admin('DELETE', `/v1/seats/${seat}`)
    await wire.until('permission_denied')
    // It keeps sending, as a client that has not read the response yet.
    wire.send('f')
  },
}

for (const tls of [false, true]) {
  t.test(tls ? 'by TLS' : 'plain', async (t) => {
    const { seen, options } = await startReader(t, tls)
    const world = await startWorld(t, options)
    for (const [framing, bytes] of Object.entries(FRAMINGS)) {
      for (const [how, cut] of Object.entries(CUTS)) {
        const count = seen.length
        const { wire, seat } = await begin(world, bytes)
        await until(() => seen[count]?.text.includes('abcde') === true, 'the upload')
        await cut(wire, world, seat)
        await until(() => seen[count]?.end !== '', 'its end')
        t.equal(seen[count]?.end, 'RST', `${framing}: ${how}`)
        wire.socket.destroy()
      }
    }
  })
}

t.test('complete requests end as before', async (t) => {
  const { seen, options } = await startReader(t, false)
  const world = await startWorld(t, options)
  const { wire } = await begin(world, 'Content-Length: 5\r\n\r\nabcde')
  await until(() => seen[0]?.text.includes('abcde') === true, 'the upload')
  wire.socket.destroy()
  await until(() => seen[0]?.end !== '', 'its end')
  t.equal(seen[0]?.end, 'FIN')
})

const WSGI = `
import sys
from wsgiref.simple_server import make_server, WSGIRequestHandler
class Quiet(WSGIRequestHandler):
    def log_message(self, *args): pass
def application(environ, start_response):
    print('reads', flush=True)
    body = environ['wsgi.input'].read(int(environ['CONTENT_LENGTH']))
    print('ran with', len(body), flush=True)
    start_response('200 OK', [])
    return [b'ok']
server = make_server('127.0.0.1', 0, application, handler_class=Quiet)
print('port', server.server_port, flush=True)
server.serve_forever()
`

t.test('a WSGI server does not run its application with a partial body', async (t) => {
  const python = spawn('python3', ['-c', WSGI], { stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  let failed = false
  python.on('error', () => {
    failed = true
  })
  python.stdout.on('data', (chunk) => (output += chunk))
  t.teardown(() => python.kill())
  await until(() => failed || output.includes('\n'), 'the WSGI server')
  if (failed) {
    t.pass('python3 is not installed')
    return
  }
  const target = `http://127.0.0.1:${output.split(/\s/)[1]}`
  const world = await startWorld(t, { target, routes: ['POST /v1/trainings: trainings:create'] })
  let cuts = 0
  for (const end of ['end', 'resetAndDestroy'] as const) {
    const { wire } = await begin(world, FRAMINGS.sized)
    await until(() => output.split('reads').length === cuts + 2, 'the application, which waits for the rest')
    wire.socket[end]()
    cuts++
    await until(() => world.log().filter(({ aborted }) => aborted === true).length === cuts, 'the log line')
  }
  // It serves one connection at a time, so the earlier ones have ended.
  const { wire } = await begin(world, 'Content-Length: 5\r\n\r\nabcde')
  await wire.until('200 OK')
  t.same(output.match(/ran with .*/g), ['ran with 5'])
  wire.socket.destroy()
})
