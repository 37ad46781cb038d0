/** Links of the audit between readers in different zones, in a real Chromium: both see the same period. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { startConsole } from './console.ts'

const console = await startConsole(t)
const { gateway } = console.world
await gateway.seat('Editor', ['main'], ['trainings:list'])
console.world.secrets.add(console.key)

/** A page of a reader in a zone. */
async function pageIn(zone: string, path: string): Promise<Page> {
  const page = await console.page('seats')
  const devtools = await console.context.newCDPSession(page)
  await devtools.send('Emulation.setTimezoneOverride', { timezoneId: zone })
  await page.goto(console.url(path))
  await console.signIn(page)
  return page
}

/** The query of a reading of the audit. */
const asked = async (page: Page, act: () => Promise<unknown>) => {
  const isReading = (url: string) => new URL(url).pathname === '/v1/audit'
  const [request] = await Promise.all([page.waitForRequest((each) => isReading(each.url())), act()])
  const query = new URL(request.url()).searchParams
  return [query.get('since'), query.get('until')]
}

t.test('a link is the same period for a colleague in another zone', async (t) => {
  const tokyo = await pageIn('Asia/Tokyo', 'audit')
  await tokyo.getByLabel('Since').fill('2026-01-05T09:00')
  await tokyo.getByLabel('Before').fill('2026-01-06T09:30')
  const period = await asked(tokyo, () => tokyo.getByRole('button', { name: 'Filter', exact: true }).click())
  t.same(period, ['2026-01-05T00:00:00Z', '2026-01-06T00:30:00Z'])
  const link = new URL(tokyo.url())
  t.same(
    ['since', 'until'].map((name) => link.searchParams.get(name)),
    period,
    'the address is in UTC',
  )
  const path = `audit${link.search}`
  const york = await pageIn('America/New_York', 'seats')
  t.same(await asked(york, () => console.follow(york, path)), period)
  t.equal(await york.getByLabel('Since').inputValue(), '2026-01-04T19:00', 'in the zone of the reader')
  await york.getByLabel('Action').selectOption('seat.create')
  const filter = () => york.getByRole('button', { name: 'Filter', exact: true }).click()
  t.same(await asked(york, filter), period, 'what is not changed stays')
  for (const page of [tokyo, york]) await page.close()
})

t.test('a link without a zone is refused: it would be another period for each reader', async (t) => {
  const page = await console.signedIn('seats')
  await console.follow(page, 'audit?since=2026-01-05T09%3A00')
  await page.getByRole('alert').filter({ hasText: 'since' }).waitFor()
  t.equal(await page.getByRole('article').count(), 0)
  await page.close()
})

t.test('no page violated its policy or failed', (t) => {
  t.same(console.faults, [])
  t.end()
})
