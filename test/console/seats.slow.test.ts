/** Seats in the console, by mouse and by keyboard, in a real Chromium: from the sign-in to what the next request is answered. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { startConsole } from './console.ts'

const console = await startConsole(t)
const { world } = console
const { gateway } = world
const permissions = ['trainings:list', 'trainings:create']
const editor = await gateway.seat('Editor', ['main'], permissions)
const nightly = await console.keyOf('nightly export', ['Editor'])
world.user('alice', { memberOf: ['Editor'], email: 'alice@acme.example', email_verified: true })
await world.visitor('alice').signIn()

const asked = async (key: string, method = 'POST') =>
  (await gateway.client.send(method, '/v1/trainings', { 'x-api-key': key, space: 'main' })).status

/** What a page keeps and shows. */
const EVERYTHING = `JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, location.href,
  document.cookie, document.documentElement.outerHTML])`

/** The accessible name of what has the focus, as far as these pages need. */
const FOCUSED = `(({ labels, ariaLabel, textContent }) =>
  (ariaLabel ?? labels?.[0]?.firstChild?.textContent ?? textContent ?? '').trim())(document.activeElement)`

const dialog = (page: Page) => page.getByRole('dialog')

t.test('an edit names whom it touches, and the next request is refused', async (t) => {
  t.equal(await asked(nightly.key), 200)
  const page = await console.signedIn('seats')
  await page.getByLabel('Permission').fill('trainings:create')
  await page.getByRole('link', { name: 'Editor' }).click()
  await page.getByRole('heading', { level: 1, name: 'Editor' }).waitFor()
  await page.getByRole('link', { name: 'nightly export' }).waitFor()
  await page.getByRole('link', { name: 'alice@acme.example' }).waitFor()
  await page.getByRole('cell', { name: 'trainings:create' }).waitFor()
  await page.getByText('created the Seat').waitFor()
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByRole('button', { name: 'Remove trainings:create' }).click()
  await page.getByRole('button', { name: 'Review the change…' }).click()
  await dialog(page).getByRole('heading', { name: 'Whom it touches' }).waitFor()
  const text = (await dialog(page).textContent()) ?? ''
  for (const part of [
    'trainings:create',
    '1 user',
    'alice@acme.example',
    '1 API key',
    'nightly export',
    'POST /v1/trainings',
  ])
    t.match(text, part)
  t.equal(await asked(nightly.key), 200, 'nothing is changed yet')
  await dialog(page).getByRole('button', { name: 'Save the change' }).click()
  await page.waitForURL(console.url(`seats/${editor}`))
  t.equal(await asked(nightly.key), 403, 'the next request')
  await page.getByText('changed the Seat').waitFor()
  await page.close()
})

t.test('the same by keyboard alone', async (t) => {
  const page = await console.page('seats')
  // The first field has the focus.
  await page.locator('input[type=password]:focus').waitFor()
  await page.keyboard.type(console.key)
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Editor' }).waitFor()
  await tabTo(page, 'Editor')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Editor' }).waitFor()
  t.equal(await focused(page), 'Editor', 'the heading of the page has the focus')
  await tabTo(page, 'Edit')
  await page.keyboard.press('Enter')
  await page.getByRole('textbox', { name: 'Name' }).and(page.locator(':focus')).waitFor()
  await tabTo(page, 'Permissions')
  await page.keyboard.type('trainings:create,')
  await page.getByRole('button', { name: 'Remove trainings:create' }).waitFor()
  await page.keyboard.type('not a permission')
  await page.keyboard.press('Enter')
  await page.getByText('a permission is resource:operation').waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await tabTo(page, 'Review the change…')
  await page.keyboard.press('Enter')
  await dialog(page).waitFor()
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  t.equal(await focused(page), 'Review the change…', 'Escape closes the dialog and gives the focus back')
  await page.keyboard.press('Enter')
  await dialog(page).getByText('Route gained').waitFor()
  await tabTo(page, 'Save the change')
  await page.keyboard.press('Enter')
  await page.waitForURL(console.url(`seats/${editor}`))
  t.equal(await asked(nightly.key), 200)
  await page.close()
})

t.test('a new Seat has no space, and the review warns of the admin space', async (t) => {
  const page = await console.signedIn('seats/new')
  const chosen = page.getByRole('list', { name: 'Spaces: chosen' }).getByRole('listitem')
  await console.seatFormRests(page)
  t.equal(await chosen.count(), 0)
  await page.getByRole('textbox', { name: 'Name' }).fill('Importer')
  await page.getByRole('combobox', { name: 'Permissions' }).fill('*,')
  const warning = dialog(page).getByText('Its holders become administrators of the whole tenant.')
  const reviewed = async () => {
    await page.getByRole('button', { name: 'Review the change…' }).click()
    await dialog(page).getByText('Whom it touches').waitFor()
    return (await warning.count()) > 0
  }
  const back = () => dialog(page).getByRole('button', { name: 'Back to the form' }).click()
  t.notOk(await reviewed(), 'without a space')
  await back()
  await page.getByRole('combobox', { name: 'Spaces' }).fill('main,')
  t.notOk(await reviewed(), 'in another space')
  await back()
  await page.getByRole('combobox', { name: 'Spaces' }).fill('admin,')
  t.ok(await reviewed(), 'in the admin space')
  await back()
  await page.close()
})

t.test('known spaces and permissions are proposed while one types', async (t) => {
  const page = await console.signedIn('seats/new')
  await console.seatFormRests(page)
  const proposed = async (label: string) => {
    const list = await page.getByRole('combobox', { name: label }).getAttribute('list')
    const options = await page.locator(`datalist[id="${list}"] option`).all()
    return Promise.all(options.map((option) => option.getAttribute('value')))
  }
  t.same(await proposed('Spaces'), ['admin', 'main'])
  const asked = await proposed('Permissions')
  for (const permission of permissions) t.ok(asked.includes(permission), permission)
  await console.follow(page, 'explain')
  await page.locator('datalist option[value=Editor]').waitFor({ state: 'attached' })
  t.ok((await proposed('Seats')).includes('Editor'))
  await page.close()
})

t.test("a colleague's edit in between: both versions, and nothing lost", async (t) => {
  const page = await console.signedIn(`seats/${editor}/edit`)
  await page.getByRole('button', { name: 'Remove trainings:list' }).click()
  await gateway.admin('PUT', `/v1/seats/${editor}`, { permissions: [...permissions, 'files:read'] })
  await page.getByRole('button', { name: 'Review the change…' }).click()
  const notice = dialog(page).getByRole('status').filter({ hasText: 'A colleague has changed the Seat' })
  await notice.waitFor()
  t.match(await notice.textContent(), /added: \+ files:read/, 'what is not of the user, before Save')
  await notice.getByRole('button', { name: 'Compare both versions' }).click()
  await dialog(page).getByText('The Seat was changed meanwhile').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Review the change…' }).click()
  await dialog(page).getByRole('button', { name: 'Save the change' }).click()
  await dialog(page).getByText('The Seat was changed meanwhile').waitFor()
  const text = (await dialog(page).textContent()) ?? ''
  t.match(text, /It is now.*files:read.*You wanted.*trainings:create/s)
  const now = await gateway.admin('GET', `/v1/seats/${editor}`)
  t.same(now.json.permissions, [...permissions, 'files:read'], "the colleague's version stays")
  await dialog(page).getByRole('button', { name: 'Review mine' }).click()
  await dialog(page).getByText('− files:read').waitFor()
  t.equal(await notice.count(), 0, 'of the version that it is compared with now')
  await dialog(page).getByRole('button', { name: 'Save the change' }).click()
  await page.waitForURL(console.url(`seats/${editor}`))
  t.same((await gateway.admin('GET', `/v1/seats/${editor}`)).json.permissions, ['trainings:create'])
  await page.close()
})

t.test('a 401 in the middle of typing loses nothing', async (t) => {
  const second = await console.keyOf('second', ['admin'])
  const page = await console.signedIn('seats/new', second.key)
  await page.getByRole('textbox', { name: 'Name' }).fill('Typed')
  await page.getByRole('combobox', { name: 'Permissions' }).fill('trainings:list')
  await page.keyboard.press('Enter')
  await console.seatFormRests(page)
  await gateway.admin('DELETE', `/v1/api-keys/${second.id}`)
  await page.getByRole('button', { name: 'Review the change…' }).click()
  await dialog(page).getByText('Sign in again').waitFor()
  await dialog(page).getByText('revoked').waitFor()
  await dialog(page).locator('input[type=password]').fill(console.key)
  await page.keyboard.press('Enter')
  await dialog(page).getByRole('heading', { name: 'Whom it touches' }).waitFor()
  await dialog(page).getByRole('button', { name: 'Create the Seat' }).click()
  await page.getByRole('heading', { level: 1, name: 'Typed' }).waitFor()
  t.match(await page.textContent('main'), 'trainings:list')
  t.pass('the page continued where it was')
  await page.close()
})

t.test('a deletion shows who loses what; a stale one deletes nothing', async (t) => {
  const id = await gateway.seat('Passing', ['main'], ['trainings:create'])
  const page = await console.signedIn(`seats/${id}`)
  await page.getByRole('button', { name: 'Delete…' }).click()
  await dialog(page).getByText('POST /v1/trainings').waitFor()
  await gateway.admin('PUT', `/v1/seats/${id}`, { permissions: ['trainings:create', 'trainings:list'] })
  await dialog(page).getByRole('button', { name: 'Delete', exact: true }).click()
  await dialog(page).getByText('Nothing was deleted').waitFor()
  await dialog(page).getByRole('button', { name: 'Show the current state' }).click()
  await page.getByRole('cell', { name: 'trainings:list' }).first().waitFor()
  await page.getByRole('button', { name: 'Delete…' }).click()
  await dialog(page).getByText('GET /v1/trainings').waitFor()
  await dialog(page).getByRole('button', { name: 'Delete', exact: true }).click()
  await page.waitForURL(console.url('seats'))
  t.equal((await gateway.admin('GET', `/v1/seats/${id}`)).status, 404)
  await page.close()
})

t.test('Back, reload and a link to a colleague', async (t) => {
  const page = await console.signedIn('seats?name=Edi')
  await page.getByText('1 of').waitFor()
  t.equal(await page.getByRole('searchbox', { name: 'Name' }).inputValue(), 'Edi')
  await page.getByRole('link', { name: 'Editor' }).click()
  await page.getByRole('heading', { level: 1, name: 'Editor' }).waitFor()
  await page.goBack()
  await page.getByText('1 of').waitFor()
  await page.goForward()
  await page.getByRole('heading', { level: 1, name: 'Editor' }).waitFor()
  await page.reload()
  await console.signIn(page)
  await page.getByRole('heading', { level: 1, name: 'Editor' }).waitFor()
  t.equal(page.url(), console.url(`seats/${editor}`))
  await page.close()
})

t.test('the key is in no storage, no address and no cookie; a reload and a sign-out forget it', async (t) => {
  const page = await console.signedIn('seats')
  await page.getByRole('link', { name: 'Editor' }).click()
  const found = await page.evaluate<string>(EVERYTHING)
  t.notMatch(found, console.key)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You have signed out').waitFor()
  t.equal(await page.locator('input[type=password]').inputValue(), '')
  t.notMatch(await page.content(), 'Editor', 'nothing of the tenant stays')
  t.notMatch(gateway.logText(), console.key)
  await page.close()
})

t.test('a caller without rights in the admin space enters its own', async (t) => {
  await gateway.seat('Manager', ['main'], ['seats:list', 'seats:read'])
  const manager = await console.keyOf('manager', ['Manager'])
  const page = await console.page('seats')
  await page.locator('input[type=password]').fill(manager.key)
  await page.keyboard.press('Enter')
  await page.getByText('no_seat_in_space').waitFor()
  await page.getByRole('textbox', { name: 'Space' }).fill('main')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Manager' }).waitFor()
  t.equal(
    await page.getByRole('link', { name: 'admin', exact: true }).count(),
    0,
    'Seats of other spaces are hidden',
  )
  await page.getByRole('link', { name: 'Manager' }).click()
  await page.getByText('Members: Refused').waitFor()
  const refusals = await page.getByRole('alert').allTextContents()
  t.ok(
    refusals.length > 0 && refusals.every((text) => /permission_denied · request [0-9a-f-]{36}/.test(text)),
    'with the id of the request',
  )
  t.ok(refusals.every((text) => text.includes('You ask in the space main.')))
  t.notOk(refusals.some((text) => text.includes("the caller's")))
  await page.close()
})

t.test('a page without rights says in which space it asks, and where one has them', async (t) => {
  await gateway.seat('Watcher of north', ['north'], ['decisions:list'])
  await gateway.seat('Trainee', ['main'], ['trainings:list'])
  const memberOf = ['Watcher of north', 'Trainee']
  world.user('dora', { memberOf, email: 'dora@acme.example', email_verified: true })
  const page = await console.page()
  await page.getByRole('radio', { name: 'Identity provider' }).check()
  await page.getByRole('textbox', { name: 'Space' }).fill('main')
  await console.signInAtProvider(page, 'dora')
  const decisions = page.getByRole('alert').filter({ hasText: 'Decisions: Refused' })
  await decisions.filter({ hasText: 'You ask in the space main.' }).waitFor()
  const text = await decisions.textContent()
  t.match(text, 'You have Seats that hold decisions:list in north.')
  t.match(text, 'The button at the top right changes the space.')
  await page.getByRole('button', { name: /change the space/ }).click()
  await page.getByRole('dialog').getByRole('textbox', { name: 'Space' }).fill('north')
  await page.keyboard.press('Enter')
  await page.locator('.badge[role=status]').getByText('live', { exact: true }).waitFor()
  await page.close()
})

t.test('script and HTML in names stay text', async (t) => {
  const hostile = '<img src=x onerror="document.title=1"><script>document.title=1</script>'
  const id = await gateway.seat(hostile, ['main'], ['trainings:list'])
  await console.keyOf(hostile, [hostile])
  const page = await console.signedIn('seats')
  for (const path of ['seats', `seats/${id}`, `seats/${id}/edit`, 'api-keys', 'audit']) {
    await page.goto(console.url(path))
    await console.signIn(page)
    await page
      .getByText(path.endsWith('edit') ? 'Edit <img' : hostile)
      .first()
      .waitFor()
    t.equal(await page.locator('img, main script').count(), 0, path)
    t.not(await page.title(), '1')
  }
  await page.close()
})

t.test('no page violated its policy or failed', (t) => {
  t.same(console.faults, [])
  t.end()
})

/** Presses Tab until the element of that name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    if ((await focused(page)) === name) return
  }
  throw new Error(`Tab does not lead to ${name}`)
}

/** The accessible name, as far as these pages need. */
function focused(page: Page): Promise<string> {
  return page.evaluate<string>(FOCUSED)
}
