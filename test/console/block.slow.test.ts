/** A block in the console, in a real Chromium: it cuts what the user has open, and each page that shows the user says so. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { openStore } from '../../seats-admin/index.ts'
import { ADMIN } from '../seats-admin/store/conformance.ts'
import { until } from '../support/until.ts'
import { handshake, startWebSocketUpstream, WebSocketClient } from '../websocket/support.ts'
import { startConsole } from './console.ts'

const upstream = await startWebSocketUpstream(t)
const console = await startConsole(t, {
  target: upstream.url,
  routes: ['GET /v1/live: trainings:list', 'GET /v1/trainings: trainings:list'],
})
const { world } = console
const { gateway } = world
await gateway.seat('Viewer', ['main'], ['trainings:list'])
for (const user of ['alice', 'bob'])
  world.user(user, { memberOf: ['Viewer'], email: `${user}@acme.example`, email_verified: true })
for (const user of ['alice', 'bob']) await world.visitor(user).signIn()
const tokens = {
  alice: await gateway.token(['main:Viewer'], { sub: 'alice' }),
  bob: await gateway.token(['main:Viewer'], { sub: 'bob' }),
}

function open(user: keyof typeof tokens): WebSocketClient {
  const client = new WebSocketClient(gateway.port)
  client.send(handshake('/v1/live', [`Authorization: Bearer ${tokens[user]}`, 'Space: main']))
  t.teardown(() => client.socket.destroy())
  return client
}

const blocked = (page: Page) =>
  page.getByText('Blocked: every token, session and owned API key is refused.').waitFor()

t.test('a block closes the WebSocket of the user, and no other one', async (t) => {
  const [own, other] = [open('alice'), open('bob')]
  await until(
    () => own.open && other.open,
    () => `open: ${own.received}`,
  )
  const page = await console.signedIn('users?sub=alice')
  const watching = await console.signedIn('users?sub=alice')
  await watching.getByRole('button', { name: 'Block…' }).waitFor()
  await page.bringToFront()
  await page.getByRole('button', { name: 'Block…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Block alice@acme.example?' })
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('a lost laptop')
  await dialog.getByRole('combobox', { name: 'Ends' }).selectOption({ label: 'in a day' })
  t.equal(own.closed, false, 'nothing is cut before the block is sent')
  await dialog.getByRole('button', { name: 'Block the user' }).click()
  await blocked(page)
  await page.getByText('Reason: a lost laptop').waitFor()
  await until(() => own.closed, 'the WebSocket is closed')
  t.equal(other.closed, false)
  const again = open('alice')
  await until(
    () => /^HTTP\/1\.1 40[13]/.test(again.received),
    () => `refused: ${again.received}`,
  )
  await watching.bringToFront()
  await blocked(watching)
  t.pass('a page that was open meanwhile shows the block without a reload')
  await page.goto(console.url('users'))
  await console.signIn(page)
  await page.getByRole('row').filter({ hasText: 'alice@acme.example' }).getByText('blocked').waitFor()
  await page.close()
  await watching.close()
})

t.test('the end of a block, by keyboard: the user gets in again', async (t) => {
  const page = await console.signedIn('users?sub=alice')
  await page.getByRole('button', { name: 'End the block' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Block…' }).waitFor()
  const again = open('alice')
  await until(
    () => again.open,
    () => `open: ${again.received}`,
  )
  t.equal(upstream.sockets.length, 3, 'the refused handshakes did not reach the upstream')
  await page.close()
})

t.test('blocks of several origins are ended one by one', async (t) => {
  const store = await openStore(gateway.config.store)
  t.teardown(() => store.close())
  const provider = { tenant: 'acme', by: 'https://login.acme.example', scope: ADMIN, now: Date.now() }
  await store.createBlock(provider, { user: 'alice', until: null, reason: 'risk', origin: 'events' })
  const page = await console.signedIn('users?sub=alice')
  await blocked(page)
  await page.getByText(/By an event of https:\/\/login\.acme\.example since [A-Z\d]/).waitFor()
  await page.getByText('Reason: risk').waitFor()
  await page.getByRole('button', { name: 'Block…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Block the user' }).click()
  await page.getByRole('button', { name: 'End the block by an event' }).click()
  await page.getByRole('button', { name: 'End the block', exact: true }).click()
  await page.getByText('A block refuses every token').waitFor()
  await page.close()
})

t.test('no page violated its policy or failed', (t) => {
  t.same(console.faults, [])
  t.end()
})
