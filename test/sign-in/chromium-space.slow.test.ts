/** A signed-in browser reaches routes with a permission where it cannot send a header: the space is in the path or the query. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import t from 'tap'
import { Authority } from '../proxy/authority.ts'
import { startWebSocketUpstream } from '../websocket/support.ts'
import { startChromium } from './chromium.ts'
import { startSignIn } from './world.ts'

const ROUTES = [
  'GET /o/{org}/pages/*: { permission: docs:read, sign_in: acme, space: { param: org } }',
  'GET /o/{org}/events: { permission: docs:read, space: { param: org } }',
  'GET /live: { permission: docs:read, space: { query: space } }',
  'GET /bye: public',
]

function serve({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  const space = String(headers['x-seatgate-space'])
  if (url.endsWith('/events')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return void response.end(`data: ${space}\n\n`)
  }
  response.setHeader('content-type', 'text/html')
  response.end(`<h1>${space}</h1>`)
}

/** The first message, or `error`. */
const eventOf = (path: string) => `new Promise((resolve) => {
  const source = new EventSource(${JSON.stringify(path)})
  source.onmessage = ({ data }) => (source.close(), resolve(data))
  source.onerror = () => (source.close(), resolve('error'))
})`

/** The echo, or `closed`. */
const echoOf = (path: string) => `new Promise((resolve) => {
  const socket = new WebSocket(location.origin.replace('http', 'ws') + ${JSON.stringify(path)})
  socket.onopen = () => socket.send('hello')
  socket.onmessage = ({ data }) => (resolve(data), socket.close())
  socket.onclose = () => resolve('closed')
})`

for (const secure of [null, new Authority().issue({ names: ['localhost'] })])
  t.test(
    `navigation, EventSource, WebSocket${secure === null ? '' : ', over TLS with HTTP/2'}`,
    async (t) => {
      const { url: target } = await startWebSocketUpstream(t, { serve })
      const world = await startSignIn(t, {
        target,
        routes: ROUTES,
        ...(secure === null ? {} : { secure }),
        originOf: (port, gateway) =>
          secure === null ? `http://localhost:${port}` : `https://localhost:${gateway.securePort}`,
      })
      await world.gateway.seat('Reader', ['main'], ['docs:read'])
      world.user('alice', { memberOf: ['Reader'] })
      const { origin, secrets } = world
      const browser = await startChromium(t)
      const page = await browser.newPage()

      await page.goto(`${origin}/o/main/pages/home`)
      await page.fill('input[name=login]', 'alice')
      await page.fill('input[name=password]', 'a password')
      await page.click('button[type=submit]')
      await page.locator('form:not(:has(input[name=login])) button[type=submit]').click()
      await page.waitForURL(`${origin}/o/main/pages/home`)
      for (const { value } of await browser.cookies(origin)) secrets.add(value)
      const spoken = 'performance.getEntriesByType("navigation")[0].nextHopProtocol'
      t.equal(await page.evaluate(spoken), secure === null ? 'http/1.1' : 'h2')
      t.equal(await page.textContent('h1'), 'main', 'navigation')
      t.equal(await page.evaluate(eventOf('/o/main/events')), 'main', 'EventSource')
      t.equal(await page.evaluate(echoOf('/live?space=main')), 'hello', 'WebSocket')

      t.equal(await page.evaluate(eventOf('/o/other/events')), 'error', 'another space')
      t.equal(await page.evaluate(echoOf('/live?space=other')), 'closed')
      t.equal(await page.evaluate(echoOf('/live')), 'closed', 'no space')
      const refused = await page.goto(`${origin}/o/other/pages/home`)
      t.equal(refused?.status(), 403)
    },
  )
