/** Routes and Explain in the console, in a real Chromium: what is served, who can call it, and why a request is refused. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { agentsTable } from '../pipeline/mcp/support.ts'
import { until } from '../support/until.ts'
import { startConsole } from './console.ts'

const ROUTES = [
  'GET /v1/trainings: trainings:list',
  'POST /v1/trainings: trainings:create',
  'DELETE /v1/trainings/{id}: trainings:delete',
  'GET /v1/files/*: files:read',
  'ANY /v1/me: authenticated',
  'GET /docs/*: public',
]
const agents = agentsTable({ lines: ['tools: { get_weather: weather:read }'] })
const console = await startConsole(t, { routes: ROUTES, tables: { 'agents.yaml': agents } })
const { world } = console
const { gateway } = world
await gateway.seat('Editor', ['main'], ['trainings:list', 'trainings:create'])
await gateway.seat('Viewer', ['main', 'north'], ['trainings:list'])
const nightly = await console.keyOf('nightly export', ['Viewer'])
world.user('alice', { memberOf: ['Editor'], email: 'alice@acme.example', email_verified: true })
await world.visitor('alice').signIn()

const row = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Routes', exact: true }).getByRole('row').filter({ hasText: text })
const rows = (page: Page) =>
  page.getByRole('region', { name: 'Routes', exact: true }).locator('tbody tr').count()
const verdict = (page: Page, text: string) =>
  page
    .locator('.verdict')
    .and(page.getByText(text, { exact: true }))
    .waitFor()
const answer = async (page: Page) => (await page.locator('section[aria-live]').textContent()) ?? ''

t.test('Routes: search, filter by permission, and use', async (t) => {
  const ask = () => gateway.client.send('GET', '/v1/trainings', { 'x-api-key': nightly.key, space: 'main' })
  for (let count = 0; count < 3; count++) t.equal((await ask()).status, 200)
  const page = await console.signedIn('routes')
  await row(page, 'GET /v1/trainings').waitFor()
  t.match(await row(page, 'GET /v1/trainings').textContent(), 'routes/main.yaml:')
  t.equal(await row(page, 'GET /v1/trainings').locator('td.number').first().textContent(), '3')
  t.match(await row(page, 'GET /v1/files/*').textContent(), /never/)
  t.match(await row(page, 'GET /docs/*').textContent(), 'public')
  t.match(await row(page, 'ANY /v1/me').textContent(), 'any credential')
  t.match(await row(page, 'GET /v1/seats').first().textContent(), 'built in')
  await page.getByRole('searchbox', { name: 'Part of a route' }).fill('TRAININGS')
  await page.keyboard.press('Enter')
  await until(async () => (await rows(page)) === 3, 'three match')
  t.equal(page.url(), console.url('routes?q=TRAININGS'))
  await page.getByRole('searchbox', { name: 'Permission' }).fill('trainings:delete')
  await page.getByRole('button', { name: 'Search' }).click()
  await until(async () => (await rows(page)) === 1, 'one matches both')
  await page.reload()
  await console.signIn(page)
  await row(page, 'DELETE /v1/trainings/{id}').waitFor()
  t.equal(await rows(page), 1, 'the address holds the search')
  await page.getByRole('searchbox', { name: 'Permission' }).fill('no:route')
  await page.keyboard.press('Enter')
  await page.getByText('No route matches.').waitFor()
  await page.close()
})

t.test('Routes: a search that is refused leaves no rows of the one before', async (t) => {
  const page = await console.signedIn('routes?q=trainings')
  await row(page, 'GET /v1/trainings').waitFor()
  await page.getByRole('searchbox', { name: 'Permission' }).fill('trainings')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'must be a permission' }).waitFor()
  t.equal(await row(page, '/v1').count(), 0)
  await page.getByRole('searchbox', { name: 'Permission' }).fill('trainings:list')
  await page.keyboard.press('Enter')
  await row(page, 'GET /v1/trainings').waitFor()
  t.equal(await page.getByRole('alert').count(), 0)
  await page.close()
})

t.test('Routes: who can call one, by keyboard alone', async (t) => {
  const page = await console.signedIn('routes')
  await page.getByRole('searchbox', { name: 'Part of a route' }).focus()
  await page.keyboard.type('get /v1/trainings')
  await page.keyboard.press('Enter')
  await until(async () => (await rows(page)) === 1, 'one matches')
  const button = page.getByRole('button', { name: 'Who can call GET /v1/trainings?' })
  for (let presses = 0; presses < 20 && !(await isFocused(page, 'Who can?')); presses++)
    await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Who can call GET /v1/trainings?' })
  for (const name of ['Editor', 'Viewer', 'nightly export', 'alice@acme.example'])
    await dialog.getByRole('link', { name }).waitFor()
  t.match(await dialog.textContent(), /Viewer in main, north/)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  t.ok(await isFocused(page, 'Who can?'), 'the button has the focus again')
  await button.click()
  await dialog.getByRole('link', { name: 'alice@acme.example' }).click()
  await page.getByRole('heading', { level: 1, name: 'alice@acme.example' }).waitFor()
  await page.goBack()
  await until(async () => (await rows(page)) === 1, 'Back shows the same search')
  await page.close()
})

t.test('Explain by Seats: refused with the reason, allowed with the Seat that grants it', async (t) => {
  const page = await console.signedIn('explain')
  await page.getByRole('combobox', { name: 'Seats' }).fill('Viewer')
  await page.keyboard.press('Enter')
  await page.getByRole('combobox', { name: 'Method' }).fill('post')
  await page.getByRole('textbox', { name: 'Path' }).fill('/v1/trainings')
  await page.getByRole('textbox', { name: 'Space' }).fill('main')
  await page.keyboard.press('Enter')
  await verdict(page, 'Refused permission_denied')
  const refused = await answer(page)
  for (const part of [
    /Read: POST \/v1\/trainings/,
    /Match: POST \/v1\/trainings, to main \(.*routes\/main\.yaml:\d+\)\. It needs trainings:create\./,
    /Authenticate: a holder of these Seats of acme/,
    /Space: main\./,
    /Viewer lacks the permission/,
  ])
    t.match(refused, part)
  await page.getByRole('combobox', { name: 'Seats' }).fill('Editor,')
  await page.getByRole('button', { name: 'Explain' }).click()
  await verdict(page, 'Allowed')
  t.match(await answer(page), /Editor grants it/)
  await page.getByRole('link', { name: 'Editor' }).click()
  await page.getByRole('heading', { level: 1, name: 'Editor' }).waitFor()
  await page.goBack()
  await verdict(page, 'Allowed')
  t.pass('Back shows the answer again')
  await page.close()
})

t.test('Explain by user, by API key and without a credential; a link holds the question', async (t) => {
  const page = await console.signedIn('explain')
  const who = page.getByRole('combobox', { name: 'Who asks' })
  await who.selectOption({ label: 'a user' })
  await page.getByRole('textbox', { name: 'Id of the user' }).fill('alice')
  await page.getByRole('textbox', { name: 'Path' }).fill('/v1/trainings')
  await page.getByRole('textbox', { name: 'Space' }).fill('north')
  await page.keyboard.press('Enter')
  await verdict(page, 'Refused no_seat_in_space')
  t.match(await answer(page), /Authenticate: alice@acme.example of acme, by a bearer token\./)
  t.match(await answer(page), /The Seats hold the permission in: main/)
  const link = page.url()
  await who.selectOption({ label: 'an API key' })
  await page.getByRole('textbox', { name: 'Id of the API key' }).fill(nightly.id)
  await page.keyboard.press('Enter')
  await verdict(page, 'Allowed')
  t.match(await answer(page), /Viewer grants it/)
  await page.getByText('Authenticate: the API key nightly export of acme.').waitFor()
  await who.selectOption({ label: 'no credential' })
  await page.getByRole('button', { name: 'Explain' }).click()
  await verdict(page, 'Refused credentials_missing')
  t.match(await answer(page), /Authenticate: no caller\./)
  await page.getByRole('textbox', { name: 'Path' }).fill('/nothing')
  await page.keyboard.press('Enter')
  await verdict(page, 'Refused route_not_found')
  t.match(await answer(page), /Match: no entry of the tables\./)
  await page.reload()
  await console.signIn(page)
  await verdict(page, 'Refused route_not_found')
  const colleague = await console.page()
  await colleague.goto(link)
  await console.signIn(colleague)
  await verdict(colleague, 'Refused no_seat_in_space')
  t.equal(await colleague.getByRole('textbox', { name: 'Id of the user' }).inputValue(), 'alice')
  await colleague.close()
  await page.close()
})

t.test('Explain: an address is its user, and what is not known is said', async (t) => {
  const page = await console.signedIn('explain?method=GET&path=%2Fv1%2Ftrainings&space=main')
  await page.locator('.verdict').waitFor()
  const ask = async (by: string, label: string, who: string) => {
    await page.getByRole('combobox', { name: 'Who asks' }).selectOption({ label: by })
    await page.getByRole('textbox', { name: label }).fill(who)
    await page.keyboard.press('Enter')
    await page.locator('.verdict').waitFor()
    return answer(page)
  }
  const asUser = (who: string) => ask('a user', 'Id of the user', who)
  t.match(await asUser('Alice@acme.example'), /Authenticate: alice@acme\.example of acme/)
  const { id } = (await gateway.admin('POST', '/v1/blocks', { user: 'alice' })).json
  for (const who of ['alice', 'alice@acme.example']) {
    t.match(await asUser(who), /Refused caller_blocked.*The user is blocked\./s, who)
    t.notMatch(await answer(page), /No sign-in/)
  }
  await gateway.admin('DELETE', `/v1/blocks/${id}`)
  for (const who of ['nobody', 'nobody@acme.example'])
    t.match(await asUser(who), /Authenticate: nobody\S* of acme\. No sign-in of this user is known\./, who)
  const unknown = '01KAJ0Z1V5Q8T2C0W7M3E9R4XD'
  t.match(await ask('an API key', 'Id of the API key', unknown), /No API key of this id is known\./)
  await page.close()
})

t.test('Explain takes no API key: it would be in the address of the page', async (t) => {
  const page = await console.signedIn('explain')
  let requests = 0
  page.on('request', (request) => void (request.url().includes('/v1/access/explain') && requests++))
  await page.getByRole('textbox', { name: 'Path' }).fill('/v1/trainings')
  for (const [by, label] of [
    ['an API key', 'Id of the API key'],
    ['a user', 'Id of the user'],
  ] as const) {
    await page.getByRole('combobox', { name: 'Who asks' }).selectOption({ label: by })
    await page.getByRole('textbox', { name: label }).fill(nightly.key)
    await page.getByText('That was an API key').waitFor()
    await page.getByRole('textbox', { name: 'Path' }).press('Enter')
  }
  t.equal(requests, 0, 'nothing is sent')
  t.equal(page.url(), console.url('explain'))
  await page.close()
})

t.test('without the right, the page says so', async (t) => {
  await gateway.seat('Keys', ['admin'], ['api-keys:list'])
  const { key } = await console.keyOf('no reader', ['Keys'])
  const page = await console.signedIn('routes', key)
  await page
    .getByRole('alert')
    .filter({ hasText: /Routes: Refused.*permission_denied · request [0-9a-f-]{36}/s })
    .waitFor()
  await page.getByRole('link', { name: 'Explain' }).click()
  await page.getByRole('textbox', { name: 'Path' }).fill('/v1/trainings')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'Not explained: Refused' }).waitFor()
  t.pass('in words')
  await page.close()
})

t.test('no page violated its policy or failed', (t) => {
  t.same(console.faults, [])
  t.end()
})

function isFocused(page: Page, text: string): Promise<boolean> {
  return page.evaluate<boolean>(`document.activeElement?.textContent?.trim() === ${JSON.stringify(text)}`)
}

t.test('a tool of an MCP server', async (t) => {
  const page = await console.signedIn('routes?q=get_weather')
  await row(page, 'tool /mcp#get_weather').waitFor()
  t.equal(await rows(page), 1)
  await page.close()
  const explain = await console.signedIn(
    'explain?method=Tool&path=get_weather&space=main&by=seats&seats=Viewer',
  )
  await explain.getByRole('button', { name: 'Explain', exact: true }).click()
  await until(async () => /tool \/mcp#get_weather/.test(await answer(explain)), 'it names the line')
  t.match(await answer(explain), 'weather:read')
  await explain.close()
})
