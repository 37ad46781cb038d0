/** The console in a real Chromium while answers are late: no answer is lost, and none is shown beside what it does not belong to. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { startConsole } from './console.ts'

const console = await startConsole(t)
const { world } = console
const { gateway } = world
const admins = await gateway.seat('Administrators', ['admin'], ['*'])
const editor = await gateway.seat('Editor', ['main'], ['trainings:list'])
await console.keyOf('nightly export', ['Editor'])
world.user('carol', { memberOf: ['Administrators'], email: 'carol@acme.example', email_verified: true })
await world.visitor('carol').signIn()

const dialog = (page: Page) => page.getByRole('dialog')
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/**
 * The answers to these requests wait, from now on.
 * @param only a method
 */
async function hold(page: Page, url: string, only?: string) {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  let requests = 0
  await page.route(url, async (route) => {
    if (only !== undefined && route.request().method() !== only) return route.fallback()
    requests++
    // A request that the page gives up meanwhile has no answer.
    const response = await route.fetch().catch(() => null)
    first.resolve()
    await promise
    if (response !== null) await route.fulfill({ response }).catch(() => {})
  })
  return { release, answered: first.promise, requests: () => requests }
}

async function has(permission: string): Promise<boolean> {
  const { json } = await gateway.admin('GET', `/v1/seats/${editor}`)
  return json.permissions.includes(permission)
}

async function escape(page: Page, times: number): Promise<void> {
  while (times-- > 0) await page.keyboard.press('Escape')
}

t.test('a dialog stays until its change is answered: a new key, a saved Seat, a block', async (t) => {
  const page = await console.signedIn('api-keys')
  await button(page, 'New API key').click()
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('hasty')
  const creation = await hold(page, '**/v1/api-keys', 'POST')
  await button(page, 'Create the key').click()
  await creation.answered
  // Chromium asks a dialog once whether it may be closed, and not again.
  await escape(page, 3)
  for (const name of ['Cancel', 'Close']) t.ok(await button(page, name).isDisabled(), name)
  creation.release()
  const key = (await dialog(page).locator('.secret').textContent())?.trim() ?? ''
  world.secrets.add(key)
  t.match(key, /^sk_/, 'the key is shown')
  await escape(page, 3)
  await dialog(page).waitFor({ state: 'detached' })
  await button(page, 'New API key').click()
  await escape(page, 1)
  await dialog(page).waitFor({ state: 'detached' })

  await console.follow(page, `seats/${editor}/edit`)
  await page.getByRole('combobox', { name: 'Permissions' }).fill('files:read,')
  await button(page, 'Review the change…').click()
  const saving = await hold(page, '**/v1/seats/*', 'PUT')
  await button(page, 'Save the change').click()
  await saving.answered
  await escape(page, 3)
  t.ok(await dialog(page).getByRole('button', { name: 'Saving everywhere…' }).isVisible())
  t.ok(await button(page, 'Back to the form').isDisabled())
  saving.release()
  await dialog(page).waitFor({ state: 'detached' })
  t.ok(await has('files:read'))

  await console.follow(page, 'users?sub=carol')
  await button(page, 'Block…').click()
  const blocking = await hold(page, '**/v1/blocks', 'POST')
  await button(page, 'Block the user').click()
  await blocking.answered
  await escape(page, 3)
  t.ok(await dialog(page).getByRole('button', { name: 'Blocking everywhere…' }).isVisible())
  blocking.release()
  await button(page, 'End the block').click()
  await button(page, 'Block…').waitFor()
  await page.close()
})

t.test('a change against the current version is saved only after its own plan', async (t) => {
  const page = await console.signedIn(`seats/${editor}/edit`)
  await page.getByRole('combobox', { name: 'Permissions' }).fill('trainings:read,')
  await button(page, 'Review the change…').click()
  await dialog(page).getByText('nightly export').waitFor()
  await gateway.admin('PUT', `/v1/seats/${editor}`, { permissions: ['trainings:list', 'files:read', 'a:b'] })
  await button(page, 'Save the change').click()
  const plan = await hold(page, '**/v1/seats/plan')
  await button(page, 'Review mine against the current version').click()
  await plan.answered
  t.equal(await dialog(page).getByText('nightly export').count(), 0, 'the plan of before is gone')
  t.ok(await button(page, 'Save the change').isDisabled())
  plan.release()
  await dialog(page).getByText('a:b').first().waitFor()
  await button(page, 'Save the change').click()
  await dialog(page).waitFor({ state: 'detached' })
  t.ok(await has('trainings:read'))
  await page.close()
})

t.test('a late save leaves what was typed meanwhile in the form that was opened again', async (t) => {
  const page = await console.signedIn('seats')
  await console.follow(page, `seats/${editor}/edit`)
  await page.getByRole('combobox', { name: 'Permissions' }).fill('trainings:create,')
  await button(page, 'Review the change…').click()
  await dialog(page).getByText('nightly export').waitFor()
  const saving = await hold(page, '**/v1/seats/*', 'PUT')
  await button(page, 'Save the change').click()
  await saving.answered
  await page.goBack()
  await console.follow(page, `seats/${editor}/edit`)
  await page.getByRole('combobox', { name: 'Permissions' }).fill('trainings:delete,')
  await button(page, 'Remove trainings:delete').waitFor()
  const read = page.waitForResponse((answer) => answer.request().method() === 'PUT')
  saving.release()
  await (await read).finished()
  await console.follow(page, 'users')
  await console.follow(page, `seats/${editor}/edit`)
  await page.getByText('This is what you typed').waitFor()
  t.ok(await button(page, 'Remove trainings:delete').isVisible())
  await button(page, 'Start anew').click()
  await page.close()
})

t.test('Explain: the question of a link is asked before the user can change it', async (t) => {
  const page = await console.signedIn('seats')
  const asked = await hold(page, '**/v1/access/explain')
  // Effects wait for a paint, or for a timer that stands for it.
  await page.evaluate(`(() => { const { setTimeout } = window; window.requestAnimationFrame = () => 0
    window.setTimeout = (run, delay = 0, ...of) => (delay < 100 ? 0 : setTimeout(run, delay, ...of)) })()`)
  await console.follow(page, 'explain?method=GET&path=%2Fv1%2Ftrainings&space=main&by=seats&seats=Editor')
  await page.getByRole('combobox', { name: 'Method' }).fill('POST')
  await asked.answered
  const answer = page.waitForResponse('**/v1/access/explain')
  asked.release()
  await (await answer).finished()
  t.equal(asked.requests(), 1)
  await button(page, 'Explain').waitFor()
  t.equal(await page.locator('.verdict').count(), 0, 'not beside another question')
  await page.close()
})

t.test('decisions that are known are shown with the stream, not after it', async (t) => {
  const page = await console.page()
  // What comes as it happens waits for this timer.
  await page.evaluate(`(() => { const { setTimeout } = window
    window.setTimeout = (run, delay = 0, ...of) => (delay === 200 ? 0 : setTimeout(run, delay, ...of)) })()`)
  await console.signIn(page)
  await page.locator('.badge[role=status]').getByText('live', { exact: true }).waitFor()
  const decisions = page.getByRole('region', { name: 'Newest decisions', exact: true })
  t.ok((await decisions.getByRole('row').count()) > 1)
  await page.close()
})

t.test('a sign-out ends the request to sign in again', async (t) => {
  const page = await console.page()
  await console.signInAtProvider(page, 'carol')
  const logout = await hold(page, '**/auth/oidc/logout')
  await button(page, 'Sign out').click()
  await logout.answered
  t.ok(await button(page, 'Sign out').isDisabled())
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor()
  logout.release()
  await page.getByText('You have signed out.').waitFor()
  await page.getByRole('radio', { name: 'API key' }).check()
  await console.signIn(page)
  t.equal(await dialog(page).count(), 0)
  await console.follow(page, `seats/${admins}`)
  await page.getByRole('heading', { level: 1, name: 'Administrators' }).waitFor()
  await page.close()
})

t.test('a reading that takes longer than the pause between readings is shown', async (t) => {
  const page = await console.page()
  await page.clock.install()
  await console.signIn(page)
  await page.clock.pauseAt(Date.now() + 60_000)
  const fleet = await hold(page, '**/v1/fleet')
  await console.follow(page, 'seats')
  await console.follow(page, '')
  await page.clock.runFor(1000)
  await fleet.answered
  await page.clock.runFor(10_000)
  fleet.release()
  await page.getByRole('region', { name: 'Instances', exact: true }).getByRole('row').nth(1).waitFor()
  t.equal(fleet.requests(), 1, 'no other reading ends it')
  // The clock is that of all pages.
  await page.clock.resume()
  await page.close()
})

t.test('no page violated its policy or failed', (t) => {
  t.same(console.faults, [])
  t.end()
})
