/** The Overview of the console in a real Chromium: the instance, the last changes, and decisions as they happen. */

import type { IncomingMessage } from 'node:http'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { Client } from '../support/client.ts'
import { openEventStream } from '../support/event-stream.ts'
import { startTcpProxy } from '../support/servers/proxy.ts'
import { until } from '../support/until.ts'
import { HOME, startConsole } from './console.ts'

const ROUTES = ['GET /v1/trainings: trainings:list', 'GET /v1/files/*: files:read']
// A slow machine needs longer for what a slow reader misses than a response may stall by default.
const top = ['limits: { body_timeout: 600s }']
const console = await startConsole(t, { routes: ROUTES, top })
const { world } = console
const { gateway } = world
await gateway.seat('Viewer', ['main'], ['trainings:list'])
const nightly = await console.keyOf('nightly export', ['Viewer'])
world.user('alice', { memberOf: ['Viewer'], email: 'alice@acme.example', email_verified: true })
await world.visitor('alice').signIn()
/** The browser's connections to the gateway. */
const line = await startTcpProxy(t, { port: gateway.port })
const floods = new Client(gateway.port, 20)
/** Of a tenant at once. */
const STREAMS = 20

const ask = (path: string, client = gateway.client, key = nightly.key) =>
  client.send('GET', path, { 'x-api-key': key, space: 'main' })

const table = (page: Page, label: string) => page.getByRole('region', { name: label, exact: true })
const row = (page: Page, label: string, text: string) =>
  table(page, label).getByRole('row').filter({ hasText: text })
const badge = (page: Page, state: string) =>
  page
    .locator('.badge[role=status]')
    .and(page.getByText(state, { exact: true }))
    .waitFor()
/** What the page counts beside a result. */
const counted = async (page: Page, code: string) =>
  Number(
    await page
      .locator('.bars li')
      .filter({ has: page.getByText(code, { exact: true }) })
      .locator('.number')
      .textContent(),
  )

t.test('the instance, its age and its tables; the last changes and how long they took', async (t) => {
  const fleet = (await gateway.admin('GET', '/v1/fleet')).json
  const page = await console.signedIn()
  const instance = row(page, 'Instances', fleet.data[0].hash)
  await instance.waitFor()
  t.match(await instance.textContent(), /[\d,]+ ms\s+ago/)
  t.match(await instance.textContent(), fleet.data[0].version)
  t.match(await page.textContent('main'), /1 instance\./)
  await page.getByText('Milliseconds until each of the last changes held everywhere').waitFor()
  const changes = row(page, 'Last changes', 'seat name')
  t.match(await changes.first().textContent(), /[\d.,]+ ms$/)
  const before = await table(page, 'Last changes').getByRole('row').nth(1).textContent()
  await gateway.seat('Another', ['main'], ['trainings:list'])
  await until(
    async () => (await table(page, 'Last changes').getByRole('row').nth(1).textContent()) !== before,
    'a change appears without a reload',
  )
  await page.close()
})

t.test('what the instance said when it refused its files', async (t) => {
  const { hash } = (await gateway.admin('GET', '/v1/fleet')).json.data[0]
  gateway.gateway.reloadRefused(['routes/main.yaml:3:4: an entry <b>without</b> a method', 'another'])
  const page = await console.signedIn()
  const instance = row(page, 'Instances', 'refused')
  await instance.waitFor()
  t.match(
    await instance.textContent(),
    /2 faults\. routes\/main\.yaml:3:4: an entry <b>without<\/b> a method/,
  )
  gateway.gateway.reloaded()
  await page.close()
  const next = await console.signedIn()
  await row(next, 'Instances', hash).waitFor()
  t.equal(await row(next, 'Instances', 'refused').count(), 0)
  await next.close()
})

t.test('a saved Seat is one change, with its name and who saved it', async (t) => {
  const page = await console.signedIn()
  const newest = table(page, 'Last changes').getByRole('row').nth(1)
  const id = await gateway.seat('Saved once', ['main'], ['trainings:list'])
  const saved = newest.filter({ hasText: 'created the Seat Saved once (seat, seat name)' })
  await saved.waitFor()
  t.equal(await row(page, 'Last changes', 'Saved once').count(), 1)
  await gateway.admin('PUT', `/v1/seats/${id}`, { name: 'Renamed' })
  await newest.filter({ hasText: 'changed the Seat Renamed' }).waitFor()
  t.match(await newest.textContent(), /bootstrap|acme/, 'who')
  t.equal(await row(page, 'Last changes', 'Renamed').count(), 1)
  await page.close()
})

t.test('a request made beside the page appears; a refused one with who asked and for what', async (t) => {
  const page = await console.signedIn()
  await badge(page, 'live')
  const first = await ask('/v1/trainings')
  await row(page, 'Newest decisions', String(first.headers['x-request-id'])).waitFor()
  const allowed = await counted(page, 'allow')
  t.ok(allowed >= 1)
  await ask('/v1/trainings')
  await until(async () => (await counted(page, 'allow')) === allowed + 1, 'it is counted')
  for (const name of ['a', 'b', 'c']) await ask(`/v1/files/${name}?token=secret`)
  const refused = row(page, 'Who was refused', 'files:read')
  await until(
    async () => (await refused.locator('td.number').textContent()) === '3',
    'three refusals in one row',
  )
  await refused.getByRole('link', { name: 'nightly export' }).waitFor()
  const text = (await refused.textContent()) ?? ''
  for (const part of [
    'nightly export',
    nightly.id,
    'GET /v1/files/*',
    'files:read in main',
    'permission_denied',
  ])
    t.match(text, part)
  t.equal(await counted(page, 'permission_denied'), 3)
  t.notMatch(await page.content(), 'token=secret')
  t.equal(await row(page, 'Newest decisions', '/v1/fleet').count(), 0, "not the page's own readings")
  await page.close()
})

t.test('users and API keys are shown by name, where the caller may read it', async (t) => {
  const token = await gateway.token(['main:Viewer'], { sub: 'alice' })
  await gateway.client.send('GET', '/v1/files/a', { authorization: `Bearer ${token}`, space: 'main' })
  await ask('/v1/files/a')
  const page = await console.signedIn()
  await row(page, 'Who was refused', 'alice@acme.example').waitFor()
  await row(page, 'Newest decisions', 'nightly export').first().waitFor()
  await showsUntilNow(page)
  const own = await table(page, 'Newest decisions').getByText('/v1/api-keys/').count()
  t.equal(own, 0, 'the readings of names are those of the page')
  await row(page, 'Who was refused', 'files:read').getByRole('link', { name: 'nightly export' }).click()
  await page.getByRole('heading', { level: 1, name: 'nightly export' }).waitFor()
  t.match(page.url(), `api-keys/${nightly.id}`)
  await page.close()

  await gateway.seat('Reader of decisions', ['admin'], ['decisions:list'])
  const reader = await console.keyOf('reader', ['Reader of decisions'])
  const other = await console.page()
  const refusedName = other.waitForResponse((answer) => answer.url().includes('/v1/api-keys/'))
  await console.signIn(other, reader.key)
  await row(other, 'Who was refused', nightly.id).waitFor()
  await row(other, 'Who was refused', 'alice').waitFor()
  t.equal((await refusedName).status(), 403)
  await showsUntilNow(other)
  t.equal(await other.getByText('nightly export').count(), 0)
  const ownRows = row(other, 'Who was refused', reader.id)
  t.equal(
    await ownRows.filter({ hasText: 'api-keys:read' }).count(),
    0,
    'that the page may not read names is no news',
  )
  await other.close()
})

t.test('Pause holds the tables still, and Continue shows what came meanwhile', async (t) => {
  const page = await console.signedIn()
  await badge(page, 'live')
  await ask('/v1/trainings')
  await page.getByRole('button', { name: 'Pause' }).click()
  await badge(page, 'paused')
  const during = String((await ask('/v1/trainings')).headers['x-request-id'])
  const after = await console.signedIn()
  await row(after, 'Newest decisions', during).waitFor()
  t.equal(await row(page, 'Newest decisions', during).count(), 0)
  await page.getByRole('button', { name: 'Continue' }).click()
  await row(page, 'Newest decisions', during).waitFor()
  await after.close()
  await page.close()
})

t.test('a stream that breaks is said in words, opened again, and misses nothing', async (t) => {
  const page = await throughLine()
  await badge(page, 'live')
  await line.cut()
  await page.getByText('The stream of decisions is interrupted').waitFor()
  await badge(page, 'broken')
  const meanwhile = String((await ask('/v1/trainings')).headers['x-request-id'])
  await line.heal()
  await badge(page, 'live')
  await row(page, 'Newest decisions', meanwhile).waitFor()
  t.equal(await page.getByText('The stream of decisions is interrupted').count(), 0)
  await row(page, 'Instances', 'ms ago').waitFor()
  await until(
    async () => (await page.getByText('The gateway does not answer').count()) === 0,
    'the fleet is read again',
  )
  await page.close()
})

t.test('a stream that is silent for longer than the gateway may be is opened again', async (t) => {
  const page = await throughLine(true)
  await badge(page, 'live')
  line.freeze()
  const meanwhile = String((await ask('/v1/trainings')).headers['x-request-id'])
  await page.clock.fastForward(41_000)
  await badge(page, 'broken')
  await line.heal()
  await page.clock.fastForward(16_000)
  await badge(page, 'live')
  await row(page, 'Newest decisions', meanwhile).waitFor()
  t.pass('what was asked in the silence is there')
  await page.close()
})

t.test('a slow reader is told how many decisions are missing', async (t) => {
  const names = Array.from({ length: 20 }, (_, at) => `${at} ${'n'.repeat(250)}`)
  for (const name of names) await gateway.seat(name, ['main'], ['trainings:list'])
  const holder = await console.keyOf('holder', names)
  const page = await throughLine(true)
  await badge(page, 'live')
  // A machine may take longer for the requests than the page waits in silence.
  await stopClock(page)
  line.freeze()
  // Decisions with long names: 4,000 are more than the buffers of sockets take, at any rate.
  for (let sent = 0; sent < 4000; sent += 20)
    await Promise.all(Array.from({ length: 20 }, () => ask('/v1/files/a', floods, holder.key)))
  await line.heal()
  await page.clock.resume()
  await page.getByText(/[\d,]+ decisions came too fast for this page and are missing here/).waitFor()
  await page.getByText('Results of the last 1,000 decisions').waitFor()
  t.pass('the page keeps the newest thousand, and says what it lost')
  await page.close()
})

t.test('without a free stream, the page reads the list again and again', async (t) => {
  const open: IncomingMessage[] = []
  await until(async () => {
    const each = await stream(t)
    if (each !== null) open.push(each)
    return open.length === STREAMS
  }, 'the streams of closed pages')
  const page = await console.signedIn()
  await page.getByText('The stream of decisions is interrupted.').waitFor()
  await ask('/v1/files/without-a-stream')
  await row(page, 'Newest decisions', '/v1/files/without-a-stream').waitFor()
  for (const each of open) each.destroy()
  await badge(page, 'live')
  t.pass('and takes the stream that is free')
  await page.close()
})

t.test('a right that is lost ends the stream with the reason', async (t) => {
  const seat = await gateway.seat('Watcher', ['admin'], ['decisions:list'])
  const watcher = await console.keyOf('watcher', ['Watcher'])
  const page = await console.signedIn('', watcher.key)
  await badge(page, 'live')
  await page.getByText('Instances: Refused').waitFor()
  await gateway.admin('PUT', `/v1/seats/${seat}`, { permissions: ['trainings:list'] })
  await page.getByText('Decisions: Refused').waitFor()
  await badge(page, 'refused')
  await gateway.admin('PUT', `/v1/seats/${seat}`, { permissions: ['decisions:list'] })
  await page.getByRole('alert').filter({ hasText: 'Decisions' }).getByRole('button').click()
  await badge(page, 'live')
  t.pass('it is asked again by the button')
  await page.close()
})

t.test('the stream of a page that was left does not fail later', async (t) => {
  const page = await throughLine(true)
  await badge(page, 'live')
  const before = console.faults.length
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Routes' }).click()
  await page.getByRole('heading', { name: 'Routes', exact: true }).waitFor()
  await page.clock.fastForward(60_000)
  // An uncaught error is reported after the timer that caused it.
  await page.evaluate('0')
  t.strictSame(console.faults.slice(before), [])
  await page.close()
})

t.test('readings of the gateway itself are left out, and shown on demand', async (t) => {
  const page = await console.signedIn()
  await badge(page, 'live')
  const before = String((await gateway.admin('GET', '/v1/seats')).headers['x-request-id'])
  await showsUntilNow(page)
  t.equal(await row(page, 'Newest decisions', before).count(), 0)
  const toggle = page.getByRole('button', {
    name: /^(?:Show|Hide) (?:\d+ )?readings? of the gateway itself$/,
  })
  await toggle.click()
  await row(page, 'Newest decisions', before).waitFor()
  await toggle.click()
  t.equal(await row(page, 'Newest decisions', before).count(), 0)
  const refused = await ask('/v1/audit')
  t.equal(refused.status, 403)
  await row(page, 'Who was refused', 'audit:list').waitFor()
  await page.close()
})

t.test('no page violated its policy or failed', (t) => {
  // What the cut line refuses is part of the tests.
  t.same(
    console.faults.filter((text) => !text.includes('net::ERR_')),
    [],
  )
  t.end()
})

/** Null: the tenant has none left. Not by `fetch`, which ends the stream of a response that is garbage. */
async function stream(t: Test): Promise<IncomingMessage | null> {
  const headers = { 'x-api-key': console.key, space: 'admin' }
  const { response } = await openEventStream(t, gateway.port, '/v1/decisions', headers)
  if (response.statusCode === 200) return response
  t.equal(response.statusCode, 503)
  return null
}

/** Waits for the decision of a request that is made now, which arrives behind those of all requests that were answered before. */
async function showsUntilNow(page: Page): Promise<void> {
  const { headers } = await ask('/v1/trainings')
  await row(page, 'Newest decisions', String(headers['x-request-id'])).waitFor()
}

/** Stops the timers of a page whose clock is the test's. It stops at a time ahead alone. */
function stopClock(page: Page): Promise<void> {
  const stop = async () => {
    const soon = await page.evaluate<number>('Date.now() + 1000')
    return page.clock.pauseAt(soon).then(
      () => true,
      () => false,
    )
  }
  return until(stop, 'a clock that stands still')
}

/** A page whose connections the test holds. @param withClock its timers are the test's */
async function throughLine(withClock = false): Promise<Page> {
  const page = await console.page('seats')
  if (withClock) await page.clock.install()
  await page.goto(`http://localhost:${line.port}${HOME}`)
  await console.signIn(page)
  return page
}
