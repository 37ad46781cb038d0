/**
 * The console in a real Chromium while its gateway is frozen (SIGSTOP): the connections stay open, and nothing is answered. No page
 * looks fresh, and none loads for ever.
 */

import type { Page } from 'playwright-core'
import t from 'tap'
import { seatgate, SECRET } from '../cli/command-line.ts'
import { writeConfiguration } from '../support/configuration.ts'
import { GatewayProcess } from '../support/gateway-process.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { startChromium } from '../sign-in/chromium.ts'
import { fetchConforming } from '../support/openapi.ts'
import { until } from '../support/until.ts'
import { ConsolePages } from './console.ts'

const folder = serverFolder(t, 'console')
writeConfiguration(folder, { top: ['console: true'] })
const bootstrap = ['bootstrap', '--tenant', 'acme', '--json']
const made = await seatgate(folder, bootstrap, { GLOBEX_SECRET: `${SECRET}, of globex` })
const { key } = JSON.parse(made.out) as { readonly key: string }
const gateway = await (await GatewayProcess.launch(t, { folder })).listens()
const console = new ConsolePages(gateway.origin, key, await startChromium(t))
const answer = await fetchConforming(`${gateway.origin}/v1/seats`, {
  method: 'POST',
  headers: { 'x-api-key': key, space: 'admin', 'content-type': 'application/json' },
  body: JSON.stringify({ name: 'Viewer', spaces: ['s1'], permissions: ['trainings:list'] }),
})
const { id: seat } = (await answer.json()) as { readonly id: string }

/** Longer than a reading may take. */
const LIMIT = 16_000
/** What reads when it is opened: all pages with something of the gateway. */
const READING = [
  '',
  'routes',
  'seats',
  `seats/${seat}`,
  `seats/${seat}/edit`,
  'api-keys',
  'api-keys/01KAJ0Z1V5Q8T2C0W7M3E9R4XD',
  'users',
  'users?sub=alice',
  'groups',
  'groups/01KAJ0Z1V5Q8T2C0W7M3E9R4XD',
  'grants',
  'audit',
  'explain?method=GET&path=%2Fv1%2Ftrainings&by=seats&seats=Viewer',
]

const dialog = (page: Page) => page.getByRole('dialog')
const noAnswer = (page: Page) =>
  page.getByRole('alert').filter({ hasText: 'The gateway does not answer' }).first()

/** Signed in, with the clock of the test. */
async function held(path: string): Promise<Page> {
  const page = await console.page(path)
  await page.clock.install()
  await page.goto(console.url(path))
  await console.signIn(page)
  return page
}

t.test('the age of the feed counts on, and is marked as old', async (t) => {
  const page = await held('')
  const feed = page.getByRole('region', { name: 'Instances', exact: true }).locator('tbody td.number').nth(1)
  const age = async () => Number(/([\d,]+) s ago/.exec((await feed.textContent()) ?? '')?.[1] ?? 0)
  await page.locator('.badge[role=status]').getByText('live', { exact: true }).waitFor()
  t.match(await feed.textContent(), /ms ago/)
  await gateway.freeze()
  await page.clock.runFor(12_000)
  await feed.getByText('old', { exact: true }).waitFor()
  const first = await age()
  t.ok(first >= 10, `${first} s`)
  await page.clock.runFor(LIMIT)
  await noAnswer(page).waitFor()
  await until(async () => (await age()) >= first + 15, 'it counts on')
  await page.getByText('What follows was read at').first().waitFor()
  await page.clock.runFor(15_000)
  await page.locator('.badge[role=status]').getByText('broken', { exact: true }).waitFor()
  gateway.thaw()
  await until(async () => {
    await page.clock.runFor(1000)
    return /ms ago/.test((await feed.textContent()) ?? '') && (await noAnswer(page).count()) === 0
  }, 'it is read again')
  t.equal(await feed.getByText('old', { exact: true }).count(), 0)
  await page.close()
})

t.test('each page ends its loading with an error, and goes on from there', async (t) => {
  const page = await held('explain')
  for (const path of READING) {
    await gateway.freeze()
    await console.follow(page, path)
    const loading = page.locator('main .loading')
    if (!path.startsWith('explain')) await loading.first().waitFor()
    // One reading may begin when another one ends.
    await until(async () => {
      await page.clock.runFor(LIMIT)
      return (await loading.count()) === 0
    }, `${path}: nothing loads any more`)
    await noAnswer(page).waitFor()
    gateway.thaw()
    await until(async () => {
      const again = page.locator('main').getByRole('button', { name: /^(?:Try again|Connect now|Explain)$/ })
      if ((await again.count()) > 0)
        await again
          .first()
          .click({ timeout: 1000 })
          .catch(() => {})
      await page.clock.runFor(2000)
      return (await noAnswer(page).count()) === 0
    }, `${path}: it goes on`)
    t.pass(path)
  }
  await page.close()
})

t.test('dialogs, changes and the sign-in end too', async (t) => {
  const page = await held('api-keys')
  await page.getByRole('button', { name: 'New API key' }).click()
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('late')
  await gateway.freeze()
  await page.getByRole('button', { name: 'Create the key' }).click()
  await dialog(page).getByRole('button', { name: 'Creating…' }).waitFor()
  await until(async () => {
    await page.clock.runFor(LIMIT)
    return (await noAnswer(page).count()) > 0
  }, 'the change has an answer')
  t.match(await dialog(page).textContent(), 'The change may have been made')
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  gateway.thaw()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await gateway.freeze()
  await page.locator('input[type=password]').fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Asking the gateway…' }).waitFor()
  await page.clock.runFor(LIMIT)
  await noAnswer(page).waitFor()
  gateway.thaw()
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  await page.close()
})

t.test('no page violated its policy or failed', (t) => {
  t.same(
    console.faults.filter((text) => !text.includes('net::ERR_')),
    [],
  )
  t.end()
})
