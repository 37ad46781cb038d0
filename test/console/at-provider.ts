/** Signs in to the console at the tenant's provider, by its real pages. */

import type { Page } from 'playwright-core'
import type { ConsoleInBrowser } from './console.ts'

/** From the sign-in page of the console to the page that was asked for. The session's cookie may appear nowhere from then on. */
export async function signInAtProvider(
  { world, context }: ConsoleInBrowser,
  page: Page,
  user: string,
): Promise<void> {
  await page.getByRole('radio', { name: 'Identity provider' }).check()
  await page.getByRole('textbox', { name: 'Tenant' }).fill('acme')
  await page.getByRole('button', { name: 'Continue to the provider' }).click()
  await page.waitForURL((url) => url.origin === world.acme.issuer)
  for (let steps = 0; new URL(page.url()).origin === world.acme.issuer && steps < 5; steps++) {
    if ((await page.locator('input[name=login]').count()) > 0) {
      await page.fill('input[name=login]', user)
      await page.fill('input[name=password]', 'a password')
    }
    const before = page.url()
    await page.click('button[type=submit]')
    await page.waitForURL((url) => url.href !== before)
  }
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  for (const { value } of await context.cookies(world.origin)) world.secrets.add(value)
}
