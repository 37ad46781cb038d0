/** The versions of route tables in the console, in a real Chromium: to read, and to roll back to one. */

import axe from 'axe-core'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { startChromium } from '../sign-in/chromium.ts'
import { startPushed, tableOf } from '../tables/pushing.ts'
import { ConsolePages } from './console.ts'

/** In both themes, and in a narrow window. */
async function accessible(t: Test, page: Page, what: string): Promise<void> {
  await page.evaluate(axe.source)
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    const violations = await page.evaluate<string[]>(
      'axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => id + nodes[0].html))',
    )
    t.same(violations, [], `${what}, ${colorScheme}`)
  }
  const size = page.viewportSize()
  await page.setViewportSize({ width: 360, height: 800 })
  t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), what)
  if (size !== null) await page.setViewportSize(size)
}

const link = { name: 'Tables', exact: true } as const

t.test('versions, what differs, and the way back', async (t) => {
  const { gateway, pusher, key } = await startPushed(t, { top: ['console: true'] })
  await pusher.send('POST', '/v1/seats', { name: 'Reader', spaces: ['s'], permissions: ['a:read'] })
  for (const requirement of ['public', 'a:read', 'authenticated'])
    t.match(await pusher.push({ 'main.yaml': tableOf(requirement) }), { status: 200 })
  const console = new ConsolePages(`http://127.0.0.1:${gateway.port}`, key, await startChromium(t))
  const page = await console.signedIn('')
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', link).click()
  const rows = page.getByRole('table').getByRole('row')
  await rows.nth(3).waitFor()
  t.match(await rows.nth(1).innerText(), /^3 active\t.*\t.*\(api key\)\t1\t[0-9a-f]{12}$/s)
  await accessible(t, page, 'versions')
  await page.getByRole('link', { name: '2', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Version 2' }).waitFor()
  await page.getByRole('heading', { name: 'Changes since version 1' }).waitFor()
  t.same(
    (await page.locator('.changes li').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ')),
    ['removed: − 3 GET /gate: public', 'added: + 3 GET /gate: a:read'],
  )
  await accessible(t, page, 'a version')
  await page.getByRole('button', { name: 'Roll back to it…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('requires more: authenticated → a:read').waitFor()
  await accessible(t, page, 'the dialog')
  await dialog.getByText('Loses: API key').waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  t.match((await pusher.read()).json, { version: 3 }, 'nothing was pushed')

  await page.getByRole('button', { name: 'Roll back to it…' }).click()
  await dialog.getByText('requires more').waitFor()
  t.match(await pusher.push({ 'main.yaml': tableOf('public') }), { status: 200 })
  await dialog.getByRole('button', { name: 'Roll back' }).click()
  await dialog.getByText('precondition_failed').waitFor()
  t.match((await pusher.read()).json, { version: 4 }, 'another push came between')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Roll back to it…' }).click()
  await dialog.getByText('requires more: public → a:read').waitFor()
  await dialog.getByRole('button', { name: 'Roll back' }).click()
  await dialog.getByText('Version 5 is active').waitFor()
  t.match((await pusher.read()).json, { version: 5, files: { 'main.yaml': tableOf('a:read') } })
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
  await page.getByRole('heading', { level: 1, name: 'Tables' }).waitFor()
  await page.getByRole('row', { name: /^5 active/ }).waitFor()
  await console.follow(page, 'tables/99')
  await page.getByText('tables_not_found').waitFor()
  t.same(console.faults, [])
})

t.test('with tables in files, the navigation does not have the page', async (t) => {
  const { gateway, key } = await startPushed(t, {
    tablesFrom: 'files',
    top: ['console: true', 'routes: [routes/*.yaml]'],
  })
  const console = new ConsolePages(`http://127.0.0.1:${gateway.port}`, key, await startChromium(t))
  const page = await console.signedIn('')
  const navigation = page.getByRole('navigation', { name: 'Pages' })
  await navigation.getByRole('link', { name: 'Users' }).waitFor()
  t.equal(await navigation.getByRole('link', link).count(), 0)
  await console.follow(page, 'tables')
  await page.getByText('tables_in_files').waitFor()
})
