/** A proxy with a configuration of the manual, between clients and a service, which asks a gateway about each request. */

import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Test } from 'tap'
import { acceptOf } from '../../src/proxy/websocket/websocket-handshake.ts'
import { keyFile } from '../identity/support.ts'
import { decisionPort, startAsking } from '../external-authorization/support.ts'
import { startSignIn } from '../sign-in/world.ts'
import { Client } from '../support/client.ts'
import { listen } from '../support/listen.ts'
import type { WorldOptions } from '../support/world.ts'
import { findProgram, type ProgramName } from '../support/servers/binaries.ts'
import { Child } from '../support/servers/child.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { onReservedPort, reservePort } from '../support/servers/ports.ts'
import { runnable } from './pages.ts'

const PAGE = 'docs/beside-other-proxies.md'

/** Where the configurations of the manual find the others. */
interface Places {
  /** Of the proxy itself, for its own requests. */
  readonly inner: number
  /** The decision listener. */
  readonly decision: number
  /** The listener for clients, with the sign-in. */
  readonly gateway: number
  readonly service: number
  /** The gateway does not answer: the configuration's own time limits apply. */
  readonly hangs?: boolean
}

export type FilesOf = (block: (language: string) => string) => ProxyFiles

interface ProxyFiles {
  readonly program: ProgramName
  /** Name of a file → its text. @param folder where they are */
  files(folder: string): Readonly<Record<string, string>>
  args(folder: string): readonly string[]
}

/** @param files the proxy's, of the text of blocks @param options of the gateway's configuration */
export async function startBeside(t: Test, files: FilesOf, options: WorldOptions = {}) {
  const top = [`identity: { lifetime: 5m, keys: [${keyFile(t)}] }`]
  const asking = await startAsking(t, { ...options, top })
  const seen: IncomingMessage[] = []
  const service = await startService(t, seen)
  const places = { decision: asking.port, gateway: asking.world.port, service }
  const proxyPort = await onReservedPort(t, async (port) => {
    await startProxy(t, files, places, port)
    return port
  })
  const client = new Client(proxyPort)
  t.teardown(() => client.close())
  return { ...asking, proxyPort, seen, send: client.send.bind(client) }
}

/** The same in front of a gateway with sign-in, whose browsers know the proxy alone. */
export async function startBesideSignIn(t: Test, files: FilesOf) {
  const seen: IncomingMessage[] = []
  const service = await startService(t, seen)
  const world = await onReservedPort(t, async (port) => {
    const top = ['decision: { listen: 127.0.0.1:0 }', 'trusted_proxies: [127.0.0.0/8]']
    const started = await startSignIn(t, { top, originOf: () => `http://127.0.0.1:${port}` })
    const { gateway } = started
    await startProxy(t, files, { decision: decisionPort(gateway), gateway: gateway.port, service }, port)
    return started
  })
  return { world, seen }
}

/** The same, and the gateway hangs: it accepts connections, and answers nothing. */
export async function startBesideHung(t: Test, files: FilesOf) {
  const seen: IncomingMessage[] = []
  const service = await startService(t, seen)
  let asked = 0
  const hung = createServer(() => void asked++)
  const decision = await listen(t, hung)
  t.teardown(() => hung.closeAllConnections())
  const port = await onReservedPort(t, async (proxyPort) => {
    await startProxy(t, files, { decision, gateway: decision, service, hangs: true }, proxyPort)
    return proxyPort
  })
  const client = new Client(port)
  t.teardown(() => client.close())
  return { seen, asked: () => asked, send: client.send.bind(client) }
}

function blockText(language: string, places: Places, port: number): string {
  const { decision, gateway, service, inner, hangs = false } = places
  const [block] = runnable(PAGE, language)
  if (block === undefined) throw new Error(`${PAGE} has no block of ${language}`)
  return (hangs ? block.text : patient(block.text))
    .replaceAll('127.0.0.1:9191', `127.0.0.1:${decision}`)
    .replaceAll('127.0.0.1:9192', `127.0.0.1:${inner}`)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${gateway}`)
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${service}`)
    .replace(/(listen |bind :|^:)80\b/m, (_, before: string) => `${addressBefore(before)}${port}`)
}

/** A slow machine is no gateway that hangs. */
function patient(text: string): string {
  return text.replace(/\b5s\b/g, '60s').replace('timeout = 10000', 'timeout = 120000')
}

/** Tests listen on loopback alone; Caddy by `default_bind`. */
function addressBefore(before: string): string {
  if (before === 'listen ') return 'listen 127.0.0.1:'
  return before === 'bind :' ? 'bind 127.0.0.1:' : before
}

async function startProxy(
  t: Test,
  filesOf: FilesOf,
  others: Omit<Places, 'inner'>,
  port: number,
): Promise<void> {
  const places = { ...others, inner: await reservePort(t) }
  const { program, files, args } = filesOf((language) => blockText(language, places, port))
  const folder = serverFolder(t, program)
  for (const [name, text] of Object.entries(files(folder))) writeFileSync(join(folder, name), text)
  const child = new Child(folder)
  t.teardown(() => child.end())
  await child.spawn({ program: await findProgram(program), args: args(folder) })
  await child.listensOn(port)
  if (WARNING.test(child.log)) throw new Error(`${program} warns of its configuration:\n${child.log}`)
}

/** As nginx and HAProxy write it. */
const WARNING = /\[warn(?:ing)?\]/i

/** Bytes: what a client may send, and its identity. Many servers take less. */
const MAX_HEADERS = 64 * 1024

/** Answers each request, and each handshake of a WebSocket. */
async function startService(t: Test, seen: IncomingMessage[]): Promise<number> {
  const server = createServer({ maxHeaderSize: MAX_HEADERS }, (request, response) => {
    seen.push(request)
    request.resume().on('end', () => response.end('from the service'))
  })
  server.on('upgrade', (request, socket) => {
    seen.push(request)
    const accept = acceptOf(String(request.headers['sec-websocket-key']))
    socket.on('error', () => {})
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
  })
  return listen(t, server)
}
