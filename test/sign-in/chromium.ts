/** Headless Chromium with a profile of its own. */

import { createServer as createTlsServer } from 'node:tls'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { type BrowserContext, chromium } from 'playwright-core'
import type { Test } from 'tap'
import { listen } from '../support/listen.ts'
import { findProgram } from '../support/servers/binaries.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { CERTIFICATES } from '../support/servers/tls.ts'

/** Switches off background network traffic, and the sandbox where a container has none. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Stops with the test. */
export async function startChromium(t: Test): Promise<BrowserContext> {
  const { path, env } = await findProgram('chromium')
  const context = await chromium.launchPersistentContext(serverFolder(t, 'chromium'), {
    executablePath: path,
    headless: true,
    args: FLAGS,
    env: { ...process.env, ...env },
    // The certificate is the test's own.
    ignoreHTTPSErrors: true,
  })
  t.teardown(() => context.close())
  return context
}

/** Terminates TLS in front of a gateway, as a load balancer does. Returns its port. */
export async function endTls(t: Test, port: number): Promise<number> {
  const server = createTlsServer(CERTIFICATES.server, (socket) => {
    const inner = connect(port, '127.0.0.1')
    socket.pipe(inner).pipe(socket)
    socket.on('error', () => inner.destroy())
    inner.on('error', () => socket.destroy())
  })
  return listen(t, server)
}

/** Another site with one page. Returns its origin. */
export async function startSite(t: Test, html: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(html)
  })
  return `http://127.0.0.1:${await listen(t, server)}`
}
