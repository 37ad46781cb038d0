/** The console with 5,000 Seats in a real Chromium: the list, its filters and its forms stay usable, and no page jumps. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { until } from '../support/until.ts'
import { startConsole } from './console.ts'

const SEATS = 5000
const console = await startConsole(t)
const { gateway } = console.world
const { world } = console
const nameOf = (at: number) => `Team ${String(at).padStart(4, '0')}`
const seats = Array.from({ length: SEATS - 1 }, (_, at) => [
  nameOf(at + 1),
  { spaces: [`space-${(at + 1) % 50}`], permissions: ['trainings:list', `part-${(at + 1) % 100}:read`] },
])
// The administrator's Seat is one more.
const applied = await gateway.admin('POST', '/v1/seats/apply', { seats: Object.fromEntries(seats) })
if (applied.status !== 200) throw new Error(applied.body)
world.user('alice', { memberOf: [nameOf(1)], email: 'alice@acme.example', email_verified: true })
await world.visitor('alice').signIn()

/** Runs in the page: how far what is shown was moved, without an action of the user (web.dev/cls). */
const SHIFTS = `addEventListener('load', () => { globalThis.shifts = 0; new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) globalThis.shifts += value
}).observe({ type: 'layout-shift', buffered: true }) })`

const rows = (page: Page) => page.getByRole('region', { name: 'Seats' }).locator('tbody tr')
const count = (page: Page, text: string) =>
  page
    .locator('.count')
    .and(page.getByText(text, { exact: true }))
    .waitFor()

t.test('the list: the first rows come at once, all are counted, and nothing jumps', async (t) => {
  const page = await console.page('seats')
  await page.addInitScript(SHIFTS)
  await page.reload()
  await console.signIn(page)
  await rows(page).first().waitFor()
  await page.evaluate('scrollTo(0, 600)')
  const seen = rows(page).nth(20)
  const before = { text: await seen.textContent(), box: await seen.boundingBox() }
  await count(page, '5,000 Seats')
  t.same(
    { text: await seen.textContent(), box: await seen.boundingBox() },
    before,
    'what was read stays in its place',
  )
  t.equal(await rows(page).count(), 200, 'the page holds what it shows')
  t.ok((await page.evaluate<number>('globalThis.shifts')) < 0.1, 'no shift that a reader would notice')
  await page.getByRole('button', { name: 'Show more of 5,000' }).click()
  await until(async () => (await rows(page).count()) === 400, 'more rows')
  t.equal(await page.evaluate('scrollY > 0'), true, 'the page stays where it was')
  await page.close()
})

t.test('filters search all of them, and are part of the address', async (t) => {
  const page = await console.signedIn('seats')
  await count(page, '5,000 Seats')
  await page.getByRole('searchbox', { name: 'Name' }).pressSequentially('team 4321')
  await count(page, '1 of 5,000 Seats')
  t.equal(await page.evaluate('document.activeElement.value'), 'team 4321', 'no letter is lost')
  await page.getByRole('searchbox', { name: 'Name' }).fill('')
  await page.getByRole('searchbox', { name: 'Space' }).fill('space-7')
  await page.getByRole('searchbox', { name: 'Permission' }).fill('part-57')
  // Team 57, 157, …: in space-7, with part-57:read. The administrator's Seat is in another space.
  await count(page, '50 of 5,000 Seats')
  await page.getByRole('link', { name: nameOf(57), exact: true }).click()
  await page.getByRole('heading', { level: 1, name: nameOf(57) }).waitFor()
  await page.goBack()
  await count(page, '50 of 5,000 Seats')
  t.equal(page.url(), console.url('seats?space=space-7&permission=part-57'))
  await page.close()
})

t.test('an API key of one of them: the form knows every name', async (t) => {
  const page = await console.signedIn('api-keys')
  await page.getByRole('button', { name: 'New API key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).fill('of a team')
  await dialog.getByRole('combobox', { name: 'Seats' }).fill(`${nameOf(4999)},`)
  await dialog.getByRole('button', { name: `Remove ${nameOf(4999)}` }).waitFor()
  await dialog.getByRole('button', { name: 'Create', exact: false }).click()
  await dialog.getByText(/sk_/).or(dialog.locator('input[value^=sk_]')).first().waitFor()
  const { data } = (await gateway.admin('GET', '/v1/api-keys?limit=100')).json
  t.ok(
    data.some(
      ({ name, seats }: { name: string; seats: string[] }) =>
        name === 'of a team' && seats[0] === nameOf(4999),
    ),
  )
  await page.close()
})

t.test('no page violated its policy or failed', (t) => {
  t.same(console.faults, [])
  t.end()
})
