/**
 * The interoperability tests of gRPC (its client and server in Go) through the gateway, with upstreams with TLS and without. The
 * cases left out need Google's credentials, or several servers.
 */

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { authority, startSecured } from '../http2/support.ts'
import { Child } from '../support/servers/child.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { onReservedPort } from '../support/servers/ports.ts'
import type { World } from '../support/world.ts'
import { compare } from './page.ts'
import { absent, places } from './places.ts'

const run = promisify(execFile)
const CASES = [
  'empty_unary',
  'large_unary',
  'client_streaming',
  'server_streaming',
  'ping_pong',
  'empty_stream',
  'timeout_on_sleeping_server',
  'cancel_after_begin',
  'cancel_after_first_response',
  'status_code_and_message',
  'special_status_message',
  'custom_metadata',
  'unimplemented_method',
  'unimplemented_service',
]

t.test('gRPC interop', { skip: absent(places.interop) }, async (t) => {
  const results = new Map<string, string | null>()
  for (const secure of [false, true]) {
    const { folder, securePort } = await start(t, secure)
    const target = ['-server_host', 'localhost', '-server_port', `${securePort}`]
    const trust = ['-use_tls', '-use_test_ca', '-ca_file', join(folder, 'ca.pem')]
    for (const name of CASES) {
      const called = run(places.interopClient, [...target, ...trust, '-test_case', name], { timeout: 60_000 })
      const fault = await called.then(
        () => null,
        (cause: Error) => cause.message,
      )
      results.set(`${name}, ${secure ? 'h2' : 'h2c'}`, fault)
    }
  }
  compare(t, 'gRPC interop', results)
})

/** A gateway before the server, over TLS or not. */
async function start(t: Test, secure: boolean): Promise<World> {
  const server = new Child(serverFolder(t, 'interop'))
  const folder = serverFolder(t, 'interop-tls')
  const { cert, key } = authority.issue({ names: ['localhost'] })
  const [ca, certFile, keyFile] = Object.entries({ ca: authority.cert, cert, key }).map(([name, pem]) => {
    writeFileSync(join(folder, name), pem)
    return join(folder, name)
  })
  const tls = secure ? ['-use_tls', '-tls_cert_file', certFile ?? '', '-tls_key_file', keyFile ?? ''] : []
  const port = await onReservedPort(t, async (port) => {
    await server.spawn({
      program: { path: places.interopServer, env: {} },
      args: ['-port', `${port}`, ...tls],
    })
    await server.comesUp(() => accepts(port))
    return port
  })
  t.teardown(() => server.kill())
  const world = await startSecured(t, {
    routes: ['POST /*: public'],
    target: `${secure ? 'https' : 'http'}://localhost:${port}`,
    upstream: secure ? ['protocol: h2', `tls: { ca: ${ca} }`] : ['protocol: h2c'],
  })
  writeFileSync(join(world.folder, 'ca.pem'), authority.cert)
  return world
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const isOpen = await new Promise<boolean>((resolve) =>
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false)),
  )
  socket.destroy()
  return isOpen
}
