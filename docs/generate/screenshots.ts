/** `npm run docs:screenshots`: the pictures of the console in the manual, by Chromium on a gateway with sample Seats. */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import t from 'tap'
import { startConsole } from '../../test/console/console.ts'
import { findChromium } from '../../test/sign-in/chromium.ts'
import type { Program } from '../../test/support/servers/binaries.ts'

const FOLDER = fileURLToPath(new URL('../pictures', import.meta.url))
const SIZE = { width: 1440, height: 900 }

const program = await findChromium()
if (typeof program === 'string') t.bailout(program)
const console = await startConsole(t, program as Program)
const { world } = console
const { gateway } = world
const trainings = (...operations: string[]) => operations.map((each) => `trainings:${each}`)
await gateway.seat('Viewers', ['main', 'north'], trainings('list'))
const editors = await gateway.seat('Editors', ['main', 'north'], trainings('list', 'create'))
await gateway.seat('Auditors', ['admin'], ['audit:list', 'seats:list', 'users:list'])
await console.keyOf('nightly export', ['Viewers'])
await console.keyOf('course catalogue', ['Editors'])
for (const [user, seat] of [
  ['alice', 'Editors'],
  ['bob', 'Viewers'],
] as const) {
  world.user(user, { memberOf: [seat], email: `${user}@acme.example`, email_verified: true })
  await world.visitor(user).signIn()
}
await gateway.admin('PUT', `/v1/seats/${editors}`, { spaces: ['main'] })

/** Name of the picture, path below the console, and what is done there. */
const PICTURES: readonly [string, string, ((page: Page) => Promise<void>)?][] = [
  ['seats', 'seats'],
  ['seat', `seats/${editors}`],
  [
    'review',
    `seats/${editors}/edit`,
    async (page) => {
      await page.getByRole('button', { name: 'Remove trainings:create' }).click()
      await page.getByRole('button', { name: 'Review the change…' }).click()
      await page.getByRole('heading', { name: 'Whom it touches' }).waitFor()
    },
  ],
  ['api-keys', 'api-keys'],
  ['users', 'users'],
  ['audit', 'audit'],
  ['overview', ''],
  ['routes', 'routes'],
  ['explain', 'explain'],
]

for (const colorScheme of ['light', 'dark'] as const)
  t.test(colorScheme, async (t) => {
    for (const [name, path, act] of PICTURES) {
      const page = await console.signedIn(path)
      await page.setViewportSize(SIZE)
      await page.emulateMedia({ colorScheme })
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator('.loading').first().waitFor({ state: 'detached' })
      await act?.(page)
      await page.screenshot({ path: join(FOLDER, `${name}-${colorScheme}.png`) })
      t.equal(await page.getByText('route_not_found').count(), 0, name)
      // What was typed is given up.
      await page.close({ runBeforeUnload: false })
    }
  })
