/** The console by a session of the tenant's provider, in a real Chromium: it survives a reload, its end, and a sign-out. */

import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { startConsole } from './console.ts'

const console = await startConsole(t)
const { world } = console
const { gateway } = world
await gateway.seat('Administrator', ['admin'], ['*'])
world.user('alice', { memberOf: ['Administrator'], email: 'alice@acme.example', email_verified: true })

// Browsers leave the braces as they are typed.
const page = await console.page('seats?name=Adm&typed={id}')

t.test('a sign-in at the provider ends on the page that was asked for', async (t) => {
  await beginAtProvider(page, 'acme')
  await signInAtProvider(page)
  await page.waitForURL((url) => url.href.startsWith(console.url('seats?name=Adm')))
  await page.getByRole('link', { name: 'Administrator' }).waitFor()
  for (const { value } of await console.context.cookies(world.origin)) world.secrets.add(value)
  t.match(await page.getByRole('button', { name: /change the space/ }).textContent(), /acme.*admin/)
})

t.test('a tenant without a provider is refused in words', async (t) => {
  const other = await console.page()
  await other.getByRole('radio', { name: 'Identity provider' }).check()
  await other.getByRole('textbox', { name: 'Tenant' }).fill('nothing')
  await other.getByRole('button', { name: 'Continue to the provider' }).click()
  await other.getByText('input_invalid').waitFor()
  t.pass('the form says why')
  await other.close()
})

t.test('a reload continues the session, and a change is made with it', async (t) => {
  await page.reload()
  await page.getByRole('link', { name: 'Administrator' }).waitFor()
  await page.getByRole('link', { name: 'New Seat' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('By session')
  await page.getByRole('button', { name: 'Review the change…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Create the Seat' }).click()
  await page.getByRole('heading', { level: 1, name: 'By session' }).waitFor()
  await page.getByText('alice@acme.example created the Seat').waitFor()
  t.pass('the gateway took its own origin')
})

t.test(
  'a session that ends in the middle of typing: the provider opens beside, and nothing is lost',
  async (t) => {
    await page.goto(console.url('seats/new'))
    await page.getByRole('textbox', { name: 'Name' }).fill('Typed')
    await console.seatFormRests(page)
    const { json } = await gateway.admin('GET', '/v1/sessions?user=alice')
    for (const { id } of json.data) await gateway.admin('DELETE', `/v1/sessions/${id}`)
    await page.getByRole('button', { name: 'Review the change…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.waitFor()
    t.equal(await dialog.getByRole('textbox', { name: 'Tenant' }).inputValue(), 'acme')
    const [beside] = await Promise.all([
      console.context.waitForEvent('page'),
      dialog.getByRole('button', { name: 'Continue to the provider' }).click(),
    ])
    await beside.waitForURL((url) => url.origin === world.acme.issuer || url.pathname.endsWith('/signed-in'))
    await signInAtProvider(beside)
    await beside.getByRole('heading', { name: 'You are signed in' }).waitFor()
    for (const { value } of await console.context.cookies(world.origin)) world.secrets.add(value)
    await page.bringToFront()
    await page.getByRole('dialog').getByRole('button', { name: 'Create the Seat' }).click()
    await page.getByRole('heading', { level: 1, name: 'Typed' }).waitFor()
    t.pass('the page continued where it was')
    await beside.close()
  },
)

t.test('a new tab continues the session, in the same space, at its own address', async (t) => {
  const tab = await console.context.newPage()
  await tab.goto(console.url('seats?name=Administrator'))
  await tab.getByRole('link', { name: 'Administrator' }).waitFor()
  t.match(await tab.getByRole('button', { name: /change the space/ }).textContent(), /acme.*admin/)
  t.equal(tab.url(), console.url('seats?name=Administrator'))
  await tab.getByRole('button', { name: /change the space/ }).click()
  await tab.getByRole('button', { name: 'Sign in otherwise in this tab' }).click()
  await tab.getByRole('radio', { name: 'API key' }).check()
  await console.signIn(tab)
  t.equal((await gateway.admin('GET', '/v1/sessions?user=alice')).json.data.length, 1, 'the session stays')
  await tab.reload()
  t.ok(await tab.getByRole('radio', { name: 'API key' }).isChecked(), 'the tab stays one of an API key')
  await tab.close()
  await page.reload()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
})

t.test('a sign-out ends the session on the gateway', async (t) => {
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You have signed out').waitFor()
  await page.getByRole('link', { name: 'sign out there too' }).waitFor()
  t.same((await gateway.admin('GET', '/v1/sessions?user=alice')).json.data, [])
  await page.reload()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  // A session that continues is first announced below the same heading.
  await page.getByRole('radio', { name: 'Identity provider' }).waitFor()
  t.equal(await page.getByRole('navigation').count(), 0)
})

/** A new tab that shows the form, without a word about a session that it never had. */
async function formOfNewTab(t: Test): Promise<Page> {
  const tab = await console.context.newPage()
  await tab.goto(console.url())
  await tab.getByRole('radio', { name: 'Identity provider' }).waitFor()
  t.equal(await tab.getByRole('navigation').count(), 0)
  t.equal(await tab.getByRole('alert').count(), 0)
  return tab
}

t.test('a new tab without a session knows the way of signing in and the tenant', async (t) => {
  const tab = await formOfNewTab(t)
  t.ok(await tab.getByRole('radio', { name: 'Identity provider' }).isChecked())
  t.equal(await tab.getByRole('textbox', { name: 'Tenant' }).inputValue(), 'acme')
  await tab.getByRole('radio', { name: 'API key' }).check()
  await console.signIn(tab)
  const next = await formOfNewTab(t)
  t.ok(await next.getByRole('radio', { name: 'API key' }).isChecked())
  await next.getByRole('radio', { name: 'Identity provider' }).check()
  t.equal(await next.getByRole('textbox', { name: 'Tenant' }).inputValue(), 'acme')
  for (const each of [tab, next]) await each.close()
})

t.test('no page violated its policy or failed', (t) => {
  t.same(console.faults, [])
  t.end()
})

async function beginAtProvider(at: Page, tenant: string): Promise<void> {
  await at.getByRole('radio', { name: 'Identity provider' }).check()
  // As it is pasted.
  await at.getByRole('textbox', { name: 'Tenant' }).fill(` ${tenant} `)
  await at.getByRole('button', { name: 'Continue to the provider' }).click()
  await at.waitForURL((url) => url.origin === world.acme.issuer)
}

/** Answers each page of the provider: after the first time it remembers the user, and the consent. */
async function signInAtProvider(at: Page): Promise<void> {
  await at.bringToFront()
  for (let steps = 0; new URL(at.url()).origin === world.acme.issuer && steps < 5; steps++) {
    if ((await at.locator('input[name=login]').count()) > 0) {
      await at.fill('input[name=login]', 'alice')
      await at.fill('input[name=password]', 'a password')
    }
    const before = at.url()
    await at.click('button[type=submit]')
    await at.waitForURL((url) => url.href !== before)
  }
}
