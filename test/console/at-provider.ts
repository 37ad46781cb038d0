/** Signs in to the console at the tenant's provider, by its real pages. */

import type { Page } from 'playwright-core'
import { until } from '../support/until.ts'
import type { ConsoleInBrowser } from './console.ts'

/** From the sign-in page of the console to the page that was asked for. The session's cookie may appear nowhere from then on. */
export async function signInAtProvider(
  { world, context }: ConsoleInBrowser,
  page: Page,
  user: string,
  tenant: 'acme' | 'globex' = 'acme',
): Promise<void> {
  const { issuer } = world[tenant]
  await page.getByRole('radio', { name: 'Identity provider' }).check()
  await page.getByRole('textbox', { name: 'Tenant' }).fill(tenant)
  await page.getByRole('button', { name: 'Continue to the provider' }).click()
  const navigation = page.getByRole('navigation', { name: 'Pages' })
  // A provider that knows the user asks nothing.
  await until(
    async () => new URL(page.url()).origin === issuer || (await navigation.count()) > 0,
    'the page of the provider',
  )
  for (let steps = 0; new URL(page.url()).origin === issuer && steps < 5; steps++) {
    if ((await page.locator('input[name=login]').count()) > 0) {
      await page.fill('input[name=login]', user)
      await page.fill('input[name=password]', 'a password')
    }
    const before = page.url()
    await page.click('button[type=submit]')
    await page.waitForURL((url) => url.href !== before)
  }
  await navigation.waitFor()
  for (const { value } of await context.cookies(world.origin)) world.secrets.add(value)
}
