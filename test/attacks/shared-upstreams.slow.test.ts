/**
 * Real servers of HTTP/2 as upstreams, whose connections many callers share: what one of them sends ends no request of the
 * others. nginx and HAProxy announce no SETTINGS_MAX_HEADER_LIST_SIZE, and end a connection for a section that they do not
 * accept.
 */

import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { codeOf, targetsAt } from '../proxy/support.ts'
import { front2 } from '../proxy/http2/support.ts'
import { listen } from '../support/listen.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'
import { findProgram, type ProgramName } from '../support/servers/binaries.ts'
import { Child } from '../support/servers/child.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { onReservedPort } from '../support/servers/ports.ts'
import { until } from '../support/until.ts'

interface Server {
  readonly program: ProgramName
  readonly args: (file: string) => string[]
  /** @param service the port behind it */
  readonly config: (folder: string, port: number, service: number) => string
}

const NGINX: Server = {
  program: 'nginx',
  args: (file) => ['-c', file, '-e', 'stderr'],
  config: (folder, port, service) => `daemon off; pid ${folder}/pid; error_log stderr; worker_processes 1;
${process.getuid?.() === 0 ? 'user root;' : ''}
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  server { listen 127.0.0.1:${port} http2; location / { proxy_pass http://127.0.0.1:${service}; } }
}`,
}

const HAPROXY: Server = {
  program: 'haproxy',
  args: (file) => ['-db', '-f', file],
  config: (_, port, service) => `defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend clients
  bind 127.0.0.1:${port} proto h2
  default_backend service
backend service
  server one 127.0.0.1:${service}
`,
}

/** @returns its port */
function start(t: Test, { program, args, config }: Server, service: number): Promise<number> {
  return onReservedPort(t, async (port) => {
    const folder = serverFolder(t, program)
    const file = join(folder, 'config')
    writeFileSync(file, config(folder, port, service))
    const child = new Child(folder)
    t.teardown(() => child.end())
    await child.spawn({ program: await findProgram(program), args: args(file) })
    await child.listensOn(port)
    return port
  })
}

/** Keeps the requests of POST until the test answers them, and answers others at once. */
async function startService(t: Test) {
  const held: ServerResponse[] = []
  const server = createServer({ maxHeaderSize: 128 * 1024 }, (request, response) => {
    if (request.method === 'POST') held.push(response)
    else response.end('good')
  })
  return { held, port: await listen(t, server) }
}

const POST = 'POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
const OTHERS = 20

const get = (path: string, ...fields: string[]) =>
  ['GET ' + path + ' HTTP/1.1', 'Host: a', ...fields, 'Connection: close', '', ''].join('\r\n')
const some = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at))

/** Around each limit of one of the servers, and far beyond. */
const REQUESTS: readonly (readonly [what: string, request: string])[] = [
  ...[7000, 8192, 8193, 9216, 15_000, 16_384, 20_000, 60_000].map(
    (bytes) => [`a value of ${bytes}`, get('/', `x-a: ${'v'.repeat(bytes)}`)] as const,
  ),
  ...[8191, 8192, 20_000].map((bytes) => [`a path of ${bytes}`, get(`/${'p'.repeat(bytes)}`)] as const),
  ...[1000, 9000, 20_000].map(
    (bytes) => [`a name of ${bytes}`, get('/', `${'n'.repeat(bytes)}: 1`)] as const,
  ),
  ...[12, 14, 15, 16, 20, 33, 60].map(
    (count) =>
      [`${count} KiB in all`, get('/', ...some(count, (at) => `x-${at}: ${'v'.repeat(1000)}`))] as const,
  ),
  ...[101, 150, 180, 190, 195, 200, 400].map(
    (count) => [`${count} fields`, get('/', ...some(count, (at) => `x${at}: 1`))] as const,
  ),
]

for (const server of [NGINX, HAPROXY])
  t.test(`${server.program}: header sections of any size`, async (t) => {
    const service = await startService(t)
    const ports = [await start(t, server, service.port), await start(t, server, service.port)] as const
    const { port, upstream } = await front2(t, ports[0], { ...targetsAt(...ports), balance: 'round-robin' })
    const others = some(OTHERS, () => POST).map((each) => new RawClient(port).send(each))
    await until(() => service.held.length === OTHERS, 'the requests of others')
    const refused: string[] = []
    for (const [what, request] of REQUESTS) {
      const received = await roundTrip(port, request)
      if (received.startsWith('HTTP/1.1 200')) continue
      refused.push(what)
      // HAProxy resets a stream for a long name.
      if (codeOf(received) !== 'upstream_protocol_error') t.equal(codeOf(received), 'headers_too_large', what)
    }
    t.ok(refused.length > 10)
    t.notOk(refused.includes('a value of 7000'))
    for (const each of service.held) each.end('good')
    for (const other of others) t.match(await other.ended, /good/)
    t.same(
      upstream.targets().map(({ state }) => state),
      ['in', 'in'],
    )
  })

for (const server of [NGINX, HAPROXY])
  t.test(`${server.program}: cancelled requests`, async (t) => {
    const service = await startService(t)
    const { port } = await front2(t, await start(t, server, service.port))
    const others = some(OTHERS, () => POST).map((each) => new RawClient(port).send(each))
    await until(() => service.held.length === OTHERS, 'the requests of others')
    for (let round = 1; round <= 15; round++) {
      const leaving = some(50, () => POST).map((each) => new RawClient(port).send(each))
      await until(() => service.held.length === OTHERS + 50 * round, 'the requests of the client that leaves')
      for (const { socket } of leaving) socket.resetAndDestroy()
    }
    for (const each of service.held) each.end('good')
    for (const other of others) t.match(await other.ended, /good/)
  })
