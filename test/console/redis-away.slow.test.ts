/**
 * The console of a fleet in a real Chromium, while the fleet's Redis is killed, away, and back empty: it goes on, and shows nothing
 * as holding everywhere that does not.
 */

import type { Page } from 'playwright-core'
import t from 'tap'
import { startFleet } from '../fleet/fleet.ts'
import { startChromium } from '../sign-in/chromium.ts'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
import { ConsolePages } from './console.ts'

const fleet = await startFleet(t, { gateways: 2, proxies: [], linesOf: () => ['console: true'] })
const [here, there] = [fleet.at(0), fleet.at(1)]
const origin = `http://127.0.0.1:${here.port}`
const console = new ConsolePages(origin, fleet.key, await startChromium(t))

const { id: seat } = await made('/v1/seats', {
  name: 'Viewer',
  spaces: ['s1'],
  permissions: ['trainings:list', 'seats:list', 'users:list'],
})
const nightly = await made('/v1/api-keys', { name: 'nightly export', seats: ['Viewer'] })
const asked = (gateway = there) => fleet.decidedStatusOf(gateway, { 'x-api-key': nightly.key, space: 's1' })

/** Makes it. If the store answers too late and has written it all the same, that one is deleted before the repetition. */
function made(path: string, body: Readonly<Record<string, unknown>>): Promise<{ id: string; key: string }> {
  return until(async () => {
    const { status, json } = await fleet.admin(here, 'POST', path, body)
    if (status === 200) return json
    if (status !== 503) throw new Error(`${status} ${JSON.stringify(json)}`)
    const { data } = (await served(() => fleet.admin(here, 'GET', path))).json
    for (const { id, name } of data)
      if (name === body['name']) await served(() => fleet.admin(here, 'DELETE', `${path}/${id}`))
    return null
  }, `a 200 of ${path}`)
}

const table = (page: Page, label: string) => page.getByRole('region', { name: label, exact: true })
const dialog = (page: Page) => page.getByRole('dialog')
const overview = await console.signedIn()
const editing = await console.signedIn(`seats/${seat}`)

/** From the page of the Seat to the dialog that shows whom the change touches. */
async function review(page: Page, change: () => Promise<void>): Promise<void> {
  await console.follow(page, `seats/${seat}/edit`)
  await page.getByRole('heading', { level: 1, name: 'Edit Viewer' }).waitFor()
  await change()
  await page.getByRole('button', { name: 'Review the change…' }).click()
  await dialog(page).getByText('nightly export').waitFor()
}
const take = (page: Page, permission: string) => () =>
  page.getByRole('button', { name: `Remove ${permission}` }).click()
const give = (page: Page, permission: string) => async () => {
  await page.getByRole('combobox', { name: 'Permissions' }).fill(`${permission},`)
  await page.getByRole('button', { name: `Remove ${permission}` }).waitFor()
}
const save = (page: Page) => dialog(page).getByRole('button', { name: 'Save the change' }).click()
const isSaved = (page: Page) => page.waitForURL(console.url(`seats/${seat}`))

/** Of the newest change, as the Overview shows it: milliseconds, or null where it says that they are not measured. */
async function heldAfter(): Promise<{ seq: number; time: number | null }> {
  const cells = await table(overview, 'Last changes')
    .getByRole('row')
    .nth(1)
    .getByRole('cell')
    .allTextContents()
  const [seq, time] = cells
    .slice(-2)
    .map((text) => Number(/^\s*([\d,.]+)/.exec(text)?.[1]?.replaceAll(',', '')))
  return { seq: seq ?? Number.NaN, time: time === undefined || Number.isNaN(time) ? null : time }
}

t.test('with Redis, the Overview shows both instances', async (t) => {
  await overview.getByText('2 instances. All have the same route tables.').waitFor()
  await overview.getByText('Redis works').waitFor()
  t.equal(await asked(), 200)
})

t.test('Redis is killed: the fleet, the Seats and the decisions are still read', async (t) => {
  await fleet.redis.kill()
  const read = (page: Page) => page.waitForResponse((answer) => answer.url().endsWith('/v1/fleet'))
  for (let readings = 0; readings < 2; readings++) t.equal((await read(overview)).status(), 200)
  t.match(await overview.textContent('main'), /2 instances\.\s+All have the same route tables/)
  await overview.getByText('Redis is not usable').waitFor()
  // An instance that lacks the CPU to read the feed is silent for a moment.
  for (const word of ['silent', 'differs'])
    await table(overview, 'Instances').getByText(word, { exact: true }).waitFor({ state: 'detached' })
  t.equal(await overview.getByRole('alert').count(), 0, 'nothing is refused')
  t.equal(await asked(here), 200)
  await table(overview, 'Newest decisions')
    .getByRole('row')
    .filter({ hasText: 'nightly export' })
    .first()
    .waitFor()
  t.equal(
    await overview.locator('.badge[role=status]').textContent(),
    'live',
    'a decision appears as it happens',
  )
  const late = await console.signedIn('seats')
  await late.getByRole('link', { name: 'Viewer' }).click()
  await late.getByRole('cell', { name: 'trainings:list' }).waitFor()
  t.pass('a sign-in, the list and a Seat need no Redis')
  await late.close()
})

t.test('an edit without Redis holds on the other instance when the page says so', async (t) => {
  await review(editing, take(editing, 'users:list'))
  t.match(await dialog(editing).textContent(), 'users:list')
  await save(editing)
  await isSaved(editing)
  await review(editing, take(editing, 'trainings:list'))
  t.equal(await asked(), 200, 'not before it is sent')
  await save(editing)
  await isSaved(editing)
  t.equal(await asked(), 403, 'the next request, at the other instance')
  await editing.getByText('changed the Seat').first().waitFor()
  const { changes } = (await served(() => fleet.admin(here, 'GET', '/v1/fleet'))).json
  await until(async () => (await heldAfter()).seq === changes[0].seq, 'the Overview has the change')
  const { time } = await heldAfter()
  t.ok(time !== null && Math.abs(time - changes[0].effective_ms) <= 1, `it held after ${time} ms`)
})

t.test('an instance that does not answer: the page waits until the change holds', async (t) => {
  await review(editing, give(editing, 'trainings:list'))
  await save(editing)
  await isSaved(editing)
  t.equal(await asked(), 200)
  await review(editing, take(editing, 'trainings:list'))
  await there.freeze()
  await overview.getByText('1 instance did not read the feed for over a second.').waitFor()
  t.equal(
    await table(overview, 'Instances').locator('svg.meter.bad').count(),
    1,
    'its age is beyond the limit',
  )
  // What it decides when it continues is as of then.
  const during = asked()
  const looked = Promise.withResolvers<void>()
  // The page gets the answer after the test has looked at it.
  await editing.route('**/v1/seats/*', async (route) => {
    const response = await route.fetch()
    await looked.promise
    await route.fulfill({ response })
  })
  const answered = editing.waitForResponse((answer) => answer.request().method() === 'PUT')
  await save(editing)
  await dialog(editing).getByRole('button', { name: 'Saving everywhere…' }).waitFor()
  t.equal(editing.url(), console.url(`seats/${seat}/edit`), 'the page does not say yet that it holds')
  looked.resolve()
  t.equal((await answered).status(), 200)
  await isSaved(editing)
  await editing.unroute('**/v1/seats/*')
  there.thaw()
  t.equal(await during, 403, 'a request that waited for the frozen instance')
  t.equal(await asked(), 403)
})

t.test('a sign-in at the provider, which needs Redis, is refused in words', async (t) => {
  const page = await console.page()
  await page.getByRole('radio', { name: 'Identity provider' }).check()
  await page.getByRole('textbox', { name: 'Tenant' }).fill('acme')
  await page.getByRole('button', { name: 'Continue to the provider' }).click()
  await page.getByRole('alert').filter({ hasText: 'unavailable' }).waitFor()
  t.equal(await page.getByRole('textbox', { name: 'Tenant' }).inputValue(), 'acme', 'what was typed is kept')
  await page.close()
})

t.test('Redis comes back empty: both instances are there, and an edit holds as before', async (t) => {
  await fleet.redis.restart({ empty: true })
  await until(
    async () => /2 instances\./.test((await overview.textContent('main')) ?? ''),
    'the instance that was frozen is listed again',
  )
  await overview.getByText('Redis works').waitFor()
  await review(editing, give(editing, 'trainings:list'))
  await save(editing)
  await isSaved(editing)
  t.equal(await asked(), 200)
  await review(editing, take(editing, 'trainings:list'))
  await save(editing)
  await isSaved(editing)
  t.equal(await asked(), 403)
  t.equal(await overview.getByRole('alert').count(), 0)
})

t.test('no page violated its policy or failed', (t) => {
  t.same(console.faults, [])
  t.end()
})
