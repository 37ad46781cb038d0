/** The console where work is interrupted, in a real Chromium: by a reload and Back on each page, and by a store that is away. */

import { DatabaseSync } from 'node:sqlite'
import type { Page } from 'playwright-core'
import t from 'tap'
import { until } from '../support/until.ts'
import { giveScim, ScimWorld } from '../scim/support.ts'
import { startConsole } from './console.ts'

const console = await startConsole(t)
const { world } = console
const { gateway } = world
const admins = await gateway.seat('Administrators', ['admin'], ['*'])
const { id: key } = await console.keyOf('nightly export', ['Administrators'])
world.user('carol', { memberOf: ['Administrators'], email: 'carol@acme.example', email_verified: true })

await giveScim(world, 'scim: { token: "${TOKEN}" }')
const group = await new ScimWorld(gateway).group('Staff')

/** Paths and their headings. */
const PAGES: readonly (readonly [path: string, heading: string])[] = [
  ['', 'Overview'],
  ['routes?q=trainings', 'Routes'],
  ['seats?name=Adm', 'Seats'],
  ['seats/new', 'New Seat'],
  [`seats/${admins}`, 'Administrators'],
  [`seats/${admins}/edit`, 'Edit Administrators'],
  ['api-keys?state=valid', 'API keys'],
  [`api-keys/${key}`, 'nightly export'],
  ['users?q=carol', 'Users'],
  ['users?sub=carol', 'carol@acme.example'],
  ['groups?q=Sta', 'Groups'],
  [`groups/${group}`, 'Staff'],
  ['audit?action=seat.create', 'Audit'],
  ['explain?method=GET&path=%2Fv1%2Ftrainings&space=main&by=user&who=carol', 'Explain'],
  ['nothing/here', 'No such page'],
]

const isShown = (page: Page, heading: string) =>
  page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()

t.test('reload and Back on each page, by a session', async (t) => {
  const page = await console.page()
  await console.signInAtProvider(page, 'carol')
  for (const [path, heading] of PAGES) {
    await console.follow(page, path)
    await isShown(page, heading)
    await page.reload()
    await isShown(page, heading)
    t.equal(page.url(), console.url(path), `${path}: the address stays`)
  }
  for (const [path, heading] of PAGES.toReversed().slice(1)) {
    await page.goBack()
    await isShown(page, heading)
    t.equal(page.url(), console.url(path), `${path}: Back`)
  }
  for (const [path, heading] of PAGES.slice(1, 3)) {
    await page.goForward()
    await isShown(page, heading)
    t.equal(page.url(), console.url(path), `${path}: Forward`)
  }
  await console.follow(page, 'seats/new/more')
  await isShown(page, 'No such page')
  await page.close()
})

t.test('a store that is away: each page says so, and goes on when it is back', async (t) => {
  const tamper = (statement: string) => {
    const database = new DatabaseSync(gateway.storeFile, { timeout: 60_000 })
    database.exec(statement)
    database.close()
  }
  const page = await console.signedIn('seats/new')
  await page.getByRole('textbox', { name: 'Name' }).fill('Typed')
  tamper('ALTER TABLE counter RENAME TO gone')
  await until(async () => (await gateway.admin('GET', '/v1/seats')).status === 503, 'the store is away')
  await page.getByRole('button', { name: 'Review the change…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('unavailable').waitFor()
  t.match(await dialog.textContent(), /Nothing was changed.*request [0-9a-f-]{36}/s)
  t.ok(await dialog.getByRole('button', { name: 'Create the Seat' }).isDisabled())
  const other = await console.page()
  await other.locator('input[type=password]').fill(console.key)
  await other.keyboard.press('Enter')
  await other.getByText('unavailable').waitFor()
  t.equal(await other.locator('input[type=password]').inputValue(), console.key, 'what was typed is kept')
  await other.close()
  tamper('ALTER TABLE gone RENAME TO counter')
  await until(async () => (await gateway.admin('GET', '/v1/seats')).status === 200, 'the store is back')
  await dialog.getByRole('button', { name: 'Try again' }).click()
  await dialog.getByRole('heading', { name: 'Whom it touches' }).waitFor()
  await dialog.getByRole('button', { name: 'Create the Seat' }).click()
  await isShown(page, 'Typed')
  await page.close()
})

t.test('no page violated its policy or failed', (t) => {
  t.same(console.faults, [])
  t.end()
})
