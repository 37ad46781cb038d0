/** A revocation in the console of a fleet with a frozen instance, in a real Chromium: the page names the instance, and says what to do. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { startFleet } from '../fleet/fleet.ts'
import { startChromium } from '../sign-in/chromium.ts'
import { ConsolePages } from './console.ts'

const fleet = await startFleet(t, { gateways: 2, proxies: [], linesOf: () => ['console: true'] })
const [here, there] = [fleet.at(0), fleet.at(1)]
const console = new ConsolePages(`http://127.0.0.1:${here.port}`, fleet.key, await startChromium(t))
const dialog = (page: Page) => page.getByRole('dialog')

t.test('an instance that is frozen is waited for, and named', async (t) => {
  const page = await console.signedIn('users?sub=alice')
  await page.getByRole('button', { name: 'Revoke…' }).click()
  await dialog(page).getByRole('heading', { name: 'What would end' }).waitFor()
  t.equal(await dialog(page).getByText('Not every instance has answered').count(), 0)
  await there.freeze()
  await dialog(page).getByRole('button', { name: 'Revoke', exact: true }).click()
  await dialog(page).getByText('not answered yet').nth(1).waitFor()
  t.pass('both instances are shown while they are waited for')
  await dialog(page).getByText('Partial: it is in force').waitFor({ timeout: 30_000 })
  const answers = await dialog(page).getByRole('row').allTextContents()
  t.match(answers.slice(1).sort().join('\n'), /decides by it[\d.,]+ ms0\n.*does not answer.*–$/s)
  await dialog(page).getByText('then revoke once more').waitFor()
  await page.keyboard.press('Escape')
  there.thaw()
  await page.getByRole('region', { name: 'Revocations' }).getByText('partial').waitFor()
  await page.close()
})

t.test('once it answers again, a further revocation is closed', async (t) => {
  const page = await console.signedIn('users?sub=alice')
  await page.getByRole('button', { name: 'Revoke…' }).click()
  await dialog(page).getByRole('heading', { name: 'What would end' }).waitFor()
  await dialog(page).getByRole('button', { name: 'Revoke', exact: true }).click()
  await dialog(page).getByText('Closed: every instance decides by it').waitFor()
  t.same(console.faults, [])
  await page.close()
})
