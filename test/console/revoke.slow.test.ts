/** Revocations in the console, in a real Chromium: what would end, the answer with its receipt, and what came before. */

import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import { keyFile } from '../identity/support.ts'
import { until } from '../support/until.ts'
import { handshake, startWebSocketUpstream, WebSocketClient } from '../websocket/support.ts'
import { startConsole } from './console.ts'

const upstream = await startWebSocketUpstream(t)
const console = await startConsole(t, {
  target: upstream.url,
  routes: ['GET /v1/live: trainings:list', 'GET /v1/trainings: trainings:list'],
  top: [`identity: { keys: [${keyFile(t)}] }`],
})
const { world } = console
const { gateway } = world
await gateway.seat('Viewer', ['main'], ['trainings:list'])
await gateway.seat('Administrators', ['admin'], ['*'])
for (const user of ['alice', 'bob'])
  world.user(user, { memberOf: ['Viewer'], email: `${user}@acme.example`, email_verified: true })
world.user('carol', { memberOf: ['Administrators'], email: 'carol@acme.example', email_verified: true })

/** The answer of a proxy in front of the gateway that has given up. */
const TIMEOUT = { status: 504, contentType: 'text/html', body: '<h1>Gateway timeout</h1>' }

const dialog = (page: Page) => page.getByRole('dialog')
const button = (page: Page, name: string) => dialog(page).getByRole('button', { name, exact: true })
const open = (page: Page) => page.getByRole('button', { name: 'Revoke…', exact: true }).click()
const previewed = (page: Page) => dialog(page).getByRole('heading', { name: 'What would end' }).waitFor()
const closed = (page: Page) =>
  dialog(page).getByText('Closed: every instance decides by it, and has cut what was open.').waitFor()
const rows = (page: Page) => page.getByRole('region', { name: 'Revocations', exact: true }).getByRole('row')

async function ask(headers: Record<string, string>): Promise<string> {
  const answer = await gateway.client.send('GET', '/v1/trainings', { space: 'main', ...headers })
  return answer.status === 200 ? 'allow' : answer.json.code
}

async function signIn(user: string): Promise<{ authorization: string }> {
  const { access_token: token } = (await world.visitor(user).signIn()).json
  return { authorization: `Bearer ${token}` }
}

async function revocationsOf(subject: string): Promise<readonly { id: string; receipt: string }[]> {
  return (await gateway.admin('GET', `/v1/revocations?subject=${subject}`)).json.data
}

t.test('a user: the preview, the answer of the instance, the receipt, and the list', async (t) => {
  const alice = await signIn('alice')
  const bob = await signIn('bob')
  const { json: owned } = await gateway.admin('POST', '/v1/api-keys', {
    name: 'of alice',
    seats: ['Viewer'],
    owner: 'alice',
  })
  const [own, other] = [alice, bob].map(({ authorization }) => {
    const client = new WebSocketClient(gateway.port)
    t.teardown(() => client.socket.destroy())
    client.send(handshake('/v1/live', [`Authorization: ${authorization}`, 'Space: main']))
    return client
  })
  await until(
    () => own?.open && other?.open,
    () => `open: ${own?.received}`,
  )
  const page = await console.signedIn('users?sub=alice')
  await page.getByRole('link', { name: 'of alice' }).waitFor()
  await open(page)
  await previewed(page)
  const text = (await dialog(page).textContent()) ?? ''
  for (const part of [/1 session/, /1 API key/, /1 WebSocket/, /signed identity .* until/s])
    t.match(text, part)
  t.equal(own?.closed, false, 'nothing ends before it is sent')
  t.equal(await ask(alice), 'allow')
  await dialog(page).getByRole('textbox', { name: 'Reason' }).fill('a <b>lost</b> laptop')
  await button(page, 'Revoke').click()
  await closed(page)
  await until(() => own?.closed, 'the WebSocket of the user is closed')
  t.equal(other?.closed, false, 'no other one')
  t.equal(await ask(alice), 'token_revoked')
  t.equal(await ask({ 'x-api-key': owned.key }), 'api_key_revoked')
  t.equal(await ask(bob), 'allow')
  t.equal(await ask(await signIn('alice')), 'allow', 'a new sign-in passes')

  const cells = await dialog(page).getByRole('row').nth(1).getByRole('cell').allTextContents()
  t.match(cells.join(), /decides by it,[\d.,]+ ms,1$/)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    button(page, 'Download the receipt').click(),
  ])
  const [revocation] = await revocationsOf('user:alice')
  t.equal(download.suggestedFilename(), `revocation-${revocation?.id}.jwt`)
  t.equal(readFileSync(await download.path(), 'utf8'), `${revocation?.receipt}\n`)
  await button(page, 'Close').last().click()
  await rows(page).getByText('a <b>lost</b> laptop').waitFor()
  await page.getByText('revoked', { exact: true }).waitFor()
  await rows(page).getByRole('button', { name: 'Show…' }).click()
  await closed(page)
  t.ok(await button(page, 'Download the receipt').isVisible(), 'the receipt is there later too')
  await page.close()
})

t.test('a user with a block until a time: a new sign-in is refused', async (t) => {
  const page = await console.signedIn('users?sub=bob')
  await open(page)
  await dialog(page).getByRole('combobox', { name: 'What ends' }).selectOption('all')
  await dialog(page).getByRole('combobox', { name: 'The block ends' }).selectOption('in a day')
  await previewed(page)
  await button(page, 'Revoke').click()
  await closed(page)
  await dialog(page).getByText('Block until').waitFor()
  await button(page, 'Close').last().click()
  await page.getByText('Blocked: every token, session and owned API key is refused.').waitFor()
  t.notOk((await world.visitor('bob').signIn()).json?.access_token)
  await page.getByRole('button', { name: 'End the block' }).click()
  await page.getByRole('button', { name: 'Block…' }).waitFor()
  t.equal(await ask(await signIn('bob')), 'allow')
  await page.close()
})

t.test('an API key with an owner: made by the address, filtered, and revoked by keyboard', async (t) => {
  const page = await console.signedIn('api-keys')
  await page.getByRole('button', { name: 'New API key' }).click()
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('reports')
  await dialog(page).getByRole('combobox', { name: 'Seats' }).fill('Viewer,')
  await dialog(page).getByRole('textbox', { name: 'Owner' }).fill('bob@acme')
  await page.keyboard.press('Tab')
  await dialog(page).getByText('No user with this id has signed in').waitFor()
  await button(page, 'bob@acme.example').click()
  t.equal(await dialog(page).getByRole('textbox', { name: 'Owner' }).inputValue(), 'bob')
  await dialog(page).getByText('This is bob@acme.example.').waitFor()
  await button(page, 'Create the key').click()
  const key = (await dialog(page).locator('.secret').textContent())?.trim() ?? ''
  world.secrets.add(key)
  await button(page, 'I have copied it').click()
  await page.getByRole('searchbox', { name: 'Owner' }).fill('bo')
  await page.getByText('1 of').waitFor()
  await page.getByRole('link', { name: 'reports' }).click()
  await page.getByRole('heading', { level: 1, name: 'reports' }).waitFor()
  await page.getByRole('link', { name: 'bob', exact: true }).waitFor()

  await page.getByRole('button', { name: 'Revoke…' }).focus()
  await page.keyboard.press('Enter')
  await previewed(page)
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  t.equal(await ask({ 'x-api-key': key }), 'allow', 'Escape revokes nothing')
  await page.keyboard.press('Enter')
  await previewed(page)
  await page.keyboard.type('in a public repository')
  await page.keyboard.press('Enter')
  await closed(page)
  t.ok(
    await page.evaluate<boolean>(`document.activeElement.closest('dialog') !== null`),
    'the focus is at the answer',
  )
  t.equal(await ask({ 'x-api-key': key }), 'api_key_revoked')
  await page.keyboard.press('Escape')
  await rows(page).getByText('in a public repository').waitFor()
  await page.getByText('revoked', { exact: true }).waitFor()
  t.equal(await page.getByRole('button', { name: 'Revoke…' }).count(), 0, 'it is revoked once')
  await page.close()
})

t.test('a user whom no sign-in has recorded', async (t) => {
  const page = await console.signedIn('users?q=stranger')
  await page.getByRole('link', { name: 'stranger' }).click()
  await page.getByRole('alert').getByText('No such user').waitFor()
  const token = await gateway.token(['main:Viewer'], { sub: 'stranger' })
  t.equal(await ask({ authorization: `Bearer ${token}` }), 'allow')
  await open(page)
  await previewed(page)
  await button(page, 'Revoke').click()
  await closed(page)
  t.equal(await ask({ authorization: `Bearer ${token}` }), 'token_revoked')
  await button(page, 'Close').last().click()
  await rows(page).nth(1).waitFor()
  await page.close()
})

t.test('without the right, the dialog says so, and does not send', async (t) => {
  await gateway.seat('Reader of users', ['admin'], ['users:list', 'api-keys:list', 'api-keys:read'])
  const { key } = await console.keyOf('reader', ['Reader of users'])
  const page = await console.signedIn('users?sub=bob', key)
  await page.getByRole('alert').filter({ hasText: 'revocations:list' }).waitFor()
  await open(page)
  await dialog(page).getByRole('alert').filter({ hasText: 'revocations:create' }).waitFor()
  t.ok(await button(page, 'Revoke').isDisabled())
  await page.close()
})

t.test('an answer that is lost: the page finds the revocation itself', async (t) => {
  const page = await console.signedIn('users?sub=bob')
  await page.route('**/v1/revocations', async (route) => {
    const request = route.request()
    if (request.method() !== 'POST' || request.postDataJSON().dry_run) return route.fallback()
    await route.fetch()
    await route.fulfill(TIMEOUT)
  })
  await open(page)
  await previewed(page)
  await dialog(page).getByRole('textbox', { name: 'Reason' }).fill('its answer is lost')
  await button(page, 'Revoke').click()
  await dialog(page).getByText('Its answer was lost.').waitFor()
  await closed(page)
  await dialog(page).getByText('its answer is lost').waitFor()
  t.ok(await button(page, 'Download the receipt').isVisible())
  await page.close()
})

t.test('a request that is lost: the page says that there is none, and what was typed stays', async (t) => {
  const before = await revocationsOf('user:bob')
  const page = await console.signedIn('users?sub=bob')
  let isAway = true
  await page.route('**/v1/revocations', (route) => {
    const isPost = route.request().method() === 'POST' && !route.request().postDataJSON().dry_run
    return isPost && isAway ? route.fulfill(TIMEOUT) : route.fallback()
  })
  await open(page)
  await previewed(page)
  await dialog(page).getByRole('textbox', { name: 'Reason' }).fill('it was lost')
  await button(page, 'Revoke').click()
  await dialog(page).getByText('the list of revocations does not have it').waitFor()
  t.equal((await revocationsOf('user:bob')).length, before.length)
  isAway = false
  await button(page, 'Back to the form, to revoke again').click()
  t.equal(await dialog(page).getByRole('textbox', { name: 'Reason' }).inputValue(), 'it was lost')
  await button(page, 'Revoke').click()
  await closed(page)
  t.equal((await revocationsOf('user:bob')).length, before.length + 1)
  await page.close()
})

t.test('a sign-in that ends before it is sent: the revocation is sent after the next one', async (t) => {
  const before = await revocationsOf('user:bob')
  const { key, id } = await console.keyOf('short-lived', ['Administrators'])
  const page = await console.signedIn('users?sub=bob', key)
  await open(page)
  await previewed(page)
  await dialog(page).getByRole('textbox', { name: 'Reason' }).fill('after a new sign-in')
  await gateway.admin('DELETE', `/v1/api-keys/${id}`)
  await button(page, 'Revoke').click()
  const again = page.getByRole('dialog', { name: 'Sign in again' })
  await again.locator('input[type=password]').fill(console.key)
  await page.keyboard.press('Enter')
  await closed(page)
  await dialog(page).getByText('after a new sign-in').waitFor()
  t.equal((await revocationsOf('user:bob')).length, before.length + 1, 'it is sent once')
  await page.close()
})

t.test('the caller revokes itself: it is said before, and the answer arrives', async (t) => {
  const page = await console.page('users?sub=carol')
  await console.signInAtProvider(page, 'carol')
  await open(page)
  await dialog(page).getByText('This is you.').waitFor()
  await previewed(page)
  await button(page, 'Revoke').click()
  await closed(page)
  t.ok(await button(page, 'Download the receipt').isVisible())
  t.equal(await page.getByRole('dialog', { name: 'Sign in again' }).count(), 0)
  await button(page, 'Close').last().click()
  await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
  t.match(await dialog(page).textContent(), /no longer accepts your sign-in/)
  await page.close()

  const { key, id } = await console.keyOf('own', ['Administrators'])
  const byKey = await console.signedIn(`api-keys/${id}`, key)
  await open(byKey)
  await dialog(byKey).getByText('The key that you are signed in with').waitFor()
  await byKey.close()
})

t.test('no page violated its policy or failed', (t) => {
  t.same(console.faults, [])
  t.end()
})
