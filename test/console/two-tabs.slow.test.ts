/**
 * Two tabs of one browser share its session cookie, in a real Chromium: a tab sends nothing into a tenant, a space or a session that it
 * does not show.
 */

import type { Page } from 'playwright-core'
import t from 'tap'
import { SESSION_COOKIE } from '../../src/oidc/session/cookies.ts'
import { startConsole } from './console.ts'

const console = await startConsole(t)
const { world } = console
const { gateway } = world
for (const tenant of ['acme', 'globex'] as const) {
  const made = await gateway.admin('POST', '/v1/seats', seatOf(`Administrators of ${tenant}`), tenant)
  if (made.status !== 200) throw new Error(made.body)
  world.user(
    `carol-${tenant}`,
    { memberOf: [`Administrators of ${tenant}`], email: `carol@${tenant}.example`, email_verified: true },
    world[tenant],
  )
}

function seatOf(name: string) {
  return { name, spaces: ['admin'], permissions: ['*'] }
}

const dialog = (page: Page) => page.getByRole('dialog')
const namesIn = async (tenant: string) =>
  (await gateway.admin('GET', '/v1/seats', undefined, tenant)).json.data.map(
    ({ name }: { name: string }) => name,
  )
const account = (page: Page) => page.getByRole('button', { name: /change the space/ }).textContent()

t.test(
  'a sign-in of another tenant in a second tab: the first one says so, and sends nothing there',
  async (t) => {
    const first = await console.page('seats/new')
    await console.signInAtProvider(first, 'carol-acme')
    await first.getByRole('textbox', { name: 'Name' }).fill('Meant for acme')
    const second = await console.page()
    await console.signInAtProvider(second, 'carol-globex', 'globex')
    t.match(await account(second), /globex.*admin/)
    await first.bringToFront()
    await dialog(first).getByText('has signed in as carol@globex.example of tenant globex').waitFor()
    await first.keyboard.press('Escape')
    await dialog(first).waitFor({ state: 'detached' })
    await first.getByRole('button', { name: 'Review the change…' }).click()
    await first.getByRole('dialog', { name: 'Sign in again' }).waitFor()
    t.equal(await first.getByRole('button', { name: 'Create the Seat' }).isDisabled(), true)
    t.notOk((await namesIn('globex')).includes('Meant for acme'))
    const shown = first.getByRole('dialog', { name: 'Sign in again' })
    await shown.getByRole('radio', { name: 'API key' }).check()
    await shown.locator('input[type=password]').fill(console.key)
    await first.keyboard.press('Enter')
    await dialog(first).getByRole('heading', { name: 'Whom it touches' }).waitFor()
    await dialog(first).getByRole('button', { name: 'Create the Seat' }).click()
    await first.getByRole('heading', { level: 1, name: 'Meant for acme' }).waitFor()
    t.ok((await namesIn('acme')).includes('Meant for acme'), 'by a credential of its own tenant, it goes on')
    t.notOk((await namesIn('globex')).includes('Meant for acme'))
    await first.close()
    await second.close()
  },
)

t.test(
  'a sign-in of another tenant outside the console: nothing of it is shown as of the first',
  async (t) => {
    await console.context.clearCookies()
    const page = await console.page('seats')
    await console.signInAtProvider(page, 'carol-acme')
    await page.getByRole('link', { name: 'Administrators of acme' }).waitFor()
    // As by a page of another application: no tab of the console is told.
    const elsewhere = world.visitor('carol-globex')
    await elsewhere.send((await elsewhere.answer('globex', { return_to: '/pages/a' })).href)
    const value = elsewhere.cookies(world.origin).get(SESSION_COOKIE) ?? ''
    const cookies = await console.context.cookies(world.origin)
    await console.context.addCookies(cookies.map((each) => ({ ...each, value })))
    await console.follow(page, 'users')
    await dialog(page).getByText('has signed in as carol@globex.example of tenant globex').waitFor()
    t.notMatch(await page.locator('main').textContent(), 'carol@globex.example')
    await page.close()
  },
)

t.test('a reload does not continue in another tenant than before', async (t) => {
  await console.context.clearCookies()
  const first = await console.page('seats')
  await console.signInAtProvider(first, 'carol-acme')
  const second = await console.page()
  await console.signInAtProvider(second, 'carol-globex', 'globex')
  await first.reload()
  await first.getByRole('alert').filter({ hasText: 'of tenant globex' }).waitFor()
  t.equal(await first.getByRole('textbox', { name: 'Tenant' }).inputValue(), 'acme')
  t.equal(await first.getByRole('navigation').count(), 0, 'nothing of globex is shown')
  await first.close()
  await second.close()
})

t.test('a sign-out ends the pages of all tabs', async (t) => {
  await console.context.clearCookies()
  const first = await console.page('seats')
  await console.signInAtProvider(first, 'carol-acme')
  const second = await console.page('users')
  await console.signInAtProvider(second, 'carol-acme')
  await first.getByRole('link', { name: 'Administrators of acme' }).waitFor()
  await second.getByRole('button', { name: 'Sign out' }).click()
  await second.getByText('You have signed out').waitFor()
  await first.bringToFront()
  await first.getByRole('dialog', { name: 'Sign in again' }).waitFor()
  t.pass('the first tab asks for a new sign-in')
  await first.close()
  await second.close()
})

t.test('a new sign-in after a 401 in another tenant or space: what waited is not sent there', async (t) => {
  await gateway.admin('PUT', `/v1/seats/${await idOfAdmin()}`, { spaces: ['admin', 'main'] })
  for (const [key, space] of [
    [gateway.keys['globex'] ?? '', ''],
    [console.key, 'main'],
  ] as const) {
    const passing = await console.keyOf('passing', ['admin'])
    const page = await console.signedIn('seats/new', passing.key)
    await page.getByRole('textbox', { name: 'Name' }).fill('Waiting')
    await page.getByRole('button', { name: 'Review the change…' }).click()
    await dialog(page).getByRole('heading', { name: 'Whom it touches' }).waitFor()
    await gateway.admin('DELETE', `/v1/api-keys/${passing.id}`)
    await dialog(page).getByRole('button', { name: 'Create the Seat' }).click()
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await again.locator('input[type=password]').fill(key)
    await again.getByRole('textbox', { name: 'Space' }).fill(space)
    await page.keyboard.press('Enter')
    await again.waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1, name: 'New Seat' }).waitFor()
    t.match(await account(page), space === '' ? /globex.*admin/ : /acme.*main/)
    t.equal(await dialog(page).count(), 0, 'the page began anew')
    t.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), '')
    for (const tenant of ['acme', 'globex']) t.notOk((await namesIn(tenant)).includes('Waiting'), tenant)
    await page.close()
  }
})

t.test('a change of the space: the page begins anew there', async (t) => {
  const page = await console.signedIn('seats')
  await page.getByRole('link', { name: 'Administrators of acme' }).waitFor()
  await page.getByRole('button', { name: /change the space/ }).click()
  await dialog(page).getByRole('textbox', { name: 'Space' }).fill('nowhere')
  await page.keyboard.press('Enter')
  await dialog(page).getByRole('alert').filter({ hasText: 'no_seat_in_space' }).waitFor()
  t.match(await account(page), /acme.*admin/, 'refused: nothing is changed')
  await dialog(page).getByRole('textbox', { name: 'Space' }).fill('main')
  await page.keyboard.press('Enter')
  await dialog(page).waitFor({ state: 'detached' })
  t.match(await account(page), /acme.*main/)
  await page.getByText(/^\d+ Seats?$/).waitFor()
  t.equal(
    await page.getByRole('link', { name: 'Administrators of acme' }).count(),
    0,
    'a Seat of the admin space',
  )
  await page.close()
})

t.test('no page violated its policy or failed', (t) => {
  t.same(console.faults, [])
  t.end()
})

async function idOfAdmin(): Promise<string> {
  const { data } = (await gateway.admin('GET', '/v1/seats')).json
  return data.find(({ name }: { name: string }) => name === 'admin').id
}
