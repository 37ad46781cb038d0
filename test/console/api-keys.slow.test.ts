/** API keys in the console, in a real Chromium: created, shown once, used, revoked. Users are blocked, and the audit tells. */

import { readFileSync } from 'node:fs'
import t from 'tap'
import { until } from '../support/until.ts'
import { startConsole } from './console.ts'

const console = await startConsole(t)
const { world } = console
const { gateway } = world
await gateway.seat('Reader', ['main'], ['trainings:list'])
world.user('alice', { memberOf: ['Reader'], email: 'alice@acme.example', email_verified: true })
const { access_token: token } = (await world.visitor('alice').signIn()).json

const asked = (headers: Record<string, string>) =>
  gateway.client.send('GET', '/v1/trainings', { space: 'main', ...headers })

t.test('a key is created, shown once, works, and is revoked', async (t) => {
  const page = await console.signedIn('api-keys')
  await console.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'New API key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).fill('reports')
  await dialog.getByRole('combobox', { name: 'Seats' }).fill('Reader')
  await page.keyboard.press('Enter')
  await dialog.getByRole('combobox', { name: 'Expires' }).selectOption('in 30 days')
  await dialog.getByRole('button', { name: 'Create the key' }).click()
  await dialog.getByText('the only time').waitFor()
  const key = (await dialog.locator('.secret').textContent())?.trim() ?? ''
  world.secrets.add(key)
  t.match(key, /^sk_[0-9A-Za-z]+$/)
  await dialog.getByRole('button', { name: 'Copy the key' }).click()
  await dialog.getByText('Copied', { exact: true }).waitFor()
  t.equal(await page.evaluate<string>('navigator.clipboard.readText()'), key)
  await dialog.getByRole('button', { name: 'I have copied it' }).click()
  await dialog.waitFor({ state: 'detached' })
  t.notMatch(await page.content(), key, 'it is shown once')
  t.equal((await asked({ 'x-api-key': key })).status, 200)

  await page.getByRole('searchbox', { name: 'Name or id' }).fill('rep')
  await page.getByText('1 of').waitFor()
  await page.getByRole('button', { name: 'Revoke reports…' }).click()
  await page.keyboard.press('Escape')
  t.equal((await asked({ 'x-api-key': key })).status, 200, 'Escape revokes nothing')
  await page.getByRole('button', { name: 'Revoke reports…' }).click()
  await dialog.getByRole('button', { name: 'Revoke the key' }).click()
  await dialog.waitFor({ state: 'detached' })
  t.match((await asked({ 'x-api-key': key })).json, { code: 'api_key_revoked' }, 'the next request')
  await page.getByRole('cell', { name: /^revoked/ }).waitFor()
  await page.close()
})

t.test('an unknown Seat is refused in words, and what was typed stays', async (t) => {
  const page = await console.signedIn('api-keys')
  await page.getByRole('button', { name: 'New API key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).fill('typed')
  await dialog.getByRole('combobox', { name: 'Seats' }).fill('Nobody,')
  await dialog.getByRole('button', { name: 'Create the key' }).click()
  await dialog.getByText('input_invalid').waitFor()
  t.match(await dialog.getByRole('alert').textContent(), /Not created.*\/seats\/0.*request [0-9a-f-]{36}/s)
  t.equal(await dialog.getByRole('textbox', { name: 'Name' }).inputValue(), 'typed')
  await page.close()
})

t.test("revoking one's own key is said before, of no other key", async (t) => {
  await gateway.seat('Manager of keys', ['admin'], ['api-keys:list', 'api-keys:read', 'api-keys:delete'])
  const own = await console.keyOf('own', ['Manager of keys'])
  await console.keyOf('another', ['Manager of keys'])
  const page = await console.signedIn('api-keys', own.key)
  const dialog = page.getByRole('dialog')
  const warning = dialog.getByText('This is the key that you are signed in with.')
  await page.getByRole('button', { name: 'Revoke another…' }).click()
  await dialog.waitFor()
  t.equal(await warning.count(), 0)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Revoke own…' }).click()
  await warning.waitFor()
  t.pass('said')
  await page.close()
})

t.test('the key of the last administrator: the warning comes before', async (t) => {
  const page = await console.signedIn('api-keys')
  await page.getByRole('button', { name: 'Revoke bootstrap…' }).click()
  await page.getByRole('dialog').getByText('nobody_administers').waitFor()
  t.pass('it is shown')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.close()
})

t.test('a user is found, blocked with a reason and an end, and unblocked', async (t) => {
  const bearer = { authorization: `Bearer ${token}` }
  t.equal((await asked(bearer)).status, 200)
  const page = await console.signedIn('users')
  await page.getByRole('searchbox').fill('alice@')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'alice@acme.example' }).click()
  await page.getByRole('heading', { level: 1, name: 'alice@acme.example' }).waitFor()
  await page.getByRole('button', { name: 'End the session' }).waitFor()
  await page.getByRole('button', { name: 'Block…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('left <b>the</b> company')
  await dialog.getByRole('combobox', { name: 'Ends' }).selectOption('in a day')
  await dialog.getByRole('button', { name: 'Block the user' }).click()
  await page.getByText('Reason: left <b>the</b> company').waitFor()
  t.match((await asked(bearer)).json, { code: 'caller_blocked' }, 'the next request')
  await page.getByRole('button', { name: 'End the block' }).click()
  await page.getByRole('button', { name: 'Block…' }).waitFor()
  t.equal((await asked(bearer)).status, 200)
  await page.getByRole('button', { name: 'End the session' }).click()
  await page.getByText('No session that lasts.').waitFor()
  t.equal((await asked(bearer)).status, 401)
  await page.reload()
  await console.signIn(page)
  await page.getByRole('heading', { level: 1, name: 'alice@acme.example' }).waitFor()
  await page.close()
})

t.test('the audit tells it as differences, filtered, and exports it', async (t) => {
  const page = await console.signedIn('audit')
  await page.getByRole('article').getByText('ended the block of the user').first().waitFor()
  await page.getByLabel('Action').selectOption('block.create')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.waitForURL(/action=block\.create/)
  await until(async () => (await page.getByRole('article').count()) === 1, 'the one entry')
  t.match(await page.getByRole('article').textContent(), /blocked the user.*left <b>the<\/b> company/s)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export as JSON lines' }).click(),
  ])
  const lines = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\n')
  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0] ?? ''), {
    action: 'block.create',
    after: { reason: 'left <b>the</b> company' },
  })
  await page.close()
})

t.test('no page violated its policy or failed', (t) => {
  t.same(console.faults, [])
  t.end()
})
