/**
 * The console in the hands of a clumsy user, in a real Chromium: wrong and huge input in every field, an API key in fields that are
 * not for it, Back in the middle of work. Nothing is lost, sent or shown that should not be.
 */

import type { Page } from 'playwright-core'
import t from 'tap'
import { until } from '../support/until.ts'
import { startConsole } from './console.ts'

const console = await startConsole(t)
const { world } = console
const { gateway } = world
const editor = await gateway.seat('Editor', ['main'], ['trainings:list'])
await gateway.seat('Other', ['main'], ['files:read'])
world.user('alice', { memberOf: ['Editor'], email: 'alice@acme.example', email_verified: true })
await world.visitor('alice').signIn()

const dialog = (page: Page) => page.getByRole('dialog')
const review = (page: Page) => page.getByRole('button', { name: 'Review the change…' }).click()
const alert = (page: Page, text: string | RegExp) =>
  page.getByRole('alert').filter({ hasText: text }).first().waitFor()
const isAt = (page: Page, heading: string) =>
  page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
const paste = (page: Page, text: string) =>
  page.evaluate(`(() => { const data = new DataTransfer(); data.setData('text', ${JSON.stringify(text)})
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })) })()`)

/** Runs in the page: what waits for the next paint, or for a timer that stands for it, runs when `paint` is called. */
const HOLD_PAINT = `(() => { const held = [], { setTimeout } = window
  window.requestAnimationFrame = (run) => held.push(run)
  window.setTimeout = (run, delay = 0, ...of) => (delay < 100 ? held.push(run) : setTimeout(run, delay, ...of))
  window.paint = () => { const { length } = held; for (let run; (run = held.shift()); ) run(); return length > 0 } })()`

t.test('text that is no API key is refused at the sign-in, and never becomes the session', async (t) => {
  const page = await console.page()
  let requests = 0
  page.on('request', (request) => void (request.url().includes('/auth/oidc/me') && requests++))
  for (const text of ['  ', 'sk_…', 'sk_\u200babc', 'Schlüssel', 'two words']) {
    await page.locator('input[type=password]').fill(text)
    await page.keyboard.press('Enter')
    await alert(page, 'This is no API key')
    await page.reload()
  }
  t.equal(requests, 0, 'nothing is asked')
  await page.locator('input[type=password]').fill('sk_unknown')
  await page.keyboard.press('Enter')
  await alert(page, /api_key|credentials/)
  await page.getByRole('textbox', { name: 'Space' }).fill('-not a space-')
  await page.getByText('a space is 1 to 128 letters').waitFor()
  await page.close()
})

t.test('an API key in a field that is not for it is taken out, and goes nowhere', async (t) => {
  const { key } = await console.keyOf('misplaced', ['Editor'])
  world.secrets.add(key)
  const page = await console.page()
  const sent: string[] = []
  page.on('request', (request) => {
    const { 'x-api-key': _, ...headers } = request.headers()
    sent.push(request.url() + JSON.stringify(headers) + (request.postData() ?? ''))
  })
  await page.getByRole('textbox', { name: 'Space' }).fill(key)
  await alert(page, 'That was an API key')
  t.equal(await page.getByRole('textbox', { name: 'Space' }).inputValue(), '')
  await page.getByRole('radio', { name: 'Identity provider' }).check()
  await page.getByRole('textbox', { name: 'Tenant' }).fill(key)
  await alert(page, 'That was an API key')
  await page.getByRole('radio', { name: 'API key' }).check()
  await console.signIn(page)
  const FIELDS = [
    ['seats', 'Name'],
    ['seats', 'Permission'],
    ['api-keys', 'Name or id'],
    ['users', 'Part of an id or e-mail address'],
    ['routes', 'Part of a route'],
    ['audit', 'Who (name or id)'],
    ['audit', 'What (name or id)'],
    ['explain', 'Path'],
    ['seats/new', 'Name'],
  ] as const
  for (const [path, label] of FIELDS) {
    await console.follow(page, path)
    const field = page.getByLabel(label, { exact: true })
    await field.fill(`x ${key}`)
    await alert(page, 'That was an API key')
    t.equal(await field.inputValue(), '', `${path}: ${label}`)
    await page.keyboard.press('Enter')
    t.notMatch(page.url(), key)
  }
  await console.follow(page, 'explain')
  await page.getByRole('combobox', { name: 'Seats' }).fill(key)
  await page.keyboard.press('Enter')
  await alert(page, 'That was an API key')
  await console.follow(page, `api-keys/${key}`)
  await isAt(page, 'API keys')
  await console.follow(page, `api-keys?name=${key}`)
  await page.getByRole('cell', { name: 'Editor' }).first().waitFor()
  t.equal(await page.getByRole('searchbox', { name: 'Name or id' }).inputValue(), '', 'of a link')
  for (const each of sent) t.notMatch(each, key)
  t.notMatch(gateway.logText(), key)
  await page.close()
})

t.test(
  'a list with wrong elements: they stay in the field, and the form is not sent without them',
  async (t) => {
    const page = await console.signedIn('seats/new')
    await page.getByRole('textbox', { name: 'Name' }).fill('Pasted')
    await page.getByRole('combobox', { name: 'Permissions' }).focus()
    await paste(page, 'trainings:list\ntrainings.delete\nfiles:read, files read\n')
    await page.getByRole('button', { name: 'Remove files:read' }).waitFor()
    const field = page.getByRole('combobox', { name: 'Permissions' })
    t.equal(await field.inputValue(), 'trainings.delete, files, read')
    await alert(page, '2 others too.')
    await review(page)
    t.equal(await dialog(page).count(), 0, 'it is not sent')
    t.ok(await page.evaluate('document.activeElement.matches(":invalid")'), 'the field has the focus')
    await field.fill('trainings:delete,')
    await review(page)
    await dialog(page).getByText('trainings:delete', { exact: true }).waitFor()
    await page.close()
  },
)

t.test(
  'the page takes the focus as it appears, not from the field that is begun before it is painted',
  async (t) => {
    const page = await console.signedIn('seats')
    await page.evaluate(HOLD_PAINT)
    await console.follow(page, 'seats/new')
    await page.getByRole('combobox', { name: 'Permissions' }).focus()
    t.ok(await page.evaluate('paint()'), 'the page had something to do after its paint')
    await page.keyboard.insertText('files:read,')
    await page.getByRole('button', { name: 'Remove files:read' }).waitFor({ timeout: 5000 })
    t.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), '')
    await page.close()
  },
)

t.test('huge names, spaces and lists are refused in words, and what was typed stays', async (t) => {
  const page = await console.signedIn('seats/new')
  await page.getByRole('textbox', { name: 'Name' }).fill('N'.repeat(100_000))
  await page.getByRole('combobox', { name: 'Permissions' }).fill('trainings:list,')
  await review(page)
  await alert(page, /\/name|input_invalid|body_too_large/)
  t.ok(await dialog(page).getByRole('button', { name: 'Create the Seat' }).isDisabled())
  await page.keyboard.press('Escape')
  t.equal((await page.getByRole('textbox', { name: 'Name' }).inputValue()).length, 100_000)
  await page.getByRole('textbox', { name: 'Name' }).fill('Huge')
  await page.getByRole('combobox', { name: 'Permissions' }).focus()
  await paste(page, Array.from({ length: 10_001 }, (_, at) => `p:${at}`).join('\n'))
  await alert(page, 'A list has at most 10,000 elements.')
  await page.getByRole('combobox', { name: 'Permissions' }).fill('')
  await paste(page, Array.from({ length: 700 }, (_, at) => `${'p'.repeat(100)}:${at}`).join('\n'))
  await page.getByRole('button', { name: 'p:699' }).waitFor()
  await review(page)
  await alert(page, 'input_invalid')
  await page.keyboard.press('Escape')
  await console.follow(page, 'routes')
  await page.getByRole('searchbox', { name: 'Part of a route' }).fill('r'.repeat(100_000))
  await page.keyboard.press('Enter')
  await alert(page, /Routes/)
  await console.follow(page, `users?q=${'u'.repeat(9000)}`)
  await isAt(page, 'Users')
  await until(async () => (await page.locator('.loading').count()) === 0, 'an answer, whatever it is')
  await page.close()
})

t.test('names of times, objects and markup in the audit break no page', async (t) => {
  const names = [
    '2026-13-45T99:99:99Z',
    '__proto__',
    'constructor',
    '{"a":1}',
    '\u202egnp.exe',
    '$&$`',
    '%00%2e%2e',
  ]
  for (const name of names) await gateway.seat(name, ['main'], ['trainings:list'])
  await gateway.admin('POST', '/v1/blocks', { user: 'mallory', reason: '2026-13-45T99:99:99.000Z' })
  const page = await console.signedIn('audit')
  for (const name of names) await page.getByText(name, { exact: true }).first().waitFor()
  await console.follow(page, 'seats')
  for (const name of names) await page.getByRole('link', { name, exact: true }).waitFor()
  await page.getByRole('link', { name: '__proto__', exact: true }).click()
  await isAt(page, '__proto__')
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByRole('combobox', { name: 'Permissions' }).fill('trainings:create,')
  await review(page)
  await dialog(page).getByText('POST /v1/trainings').waitFor()
  await dialog(page).getByRole('button', { name: 'Save the change' }).click()
  await isAt(page, '__proto__')
  t.pass('its plan and its change are those of the Seat')
  await page.close()
})

t.test('a name that is taken is said before anything is sent', async (t) => {
  const page = await console.signedIn('seats/new')
  await page.getByRole('textbox', { name: 'Name' }).fill('Editor')
  await page.getByRole('combobox', { name: 'Permissions' }).fill('files:read,')
  await review(page)
  await dialog(page).getByText('There is a Seat of this name already.').waitFor()
  t.ok(await dialog(page).getByRole('button', { name: 'Create the Seat' }).isDisabled())
  await page.keyboard.press('Escape')
  await console.follow(page, `seats/${editor}/edit`)
  await page.getByRole('textbox', { name: 'Name' }).fill('Other')
  await review(page)
  await dialog(page).getByText('There is a Seat of this name already.').waitFor()
  t.ok(await dialog(page).getByRole('button', { name: 'Save the change' }).isDisabled())
  await page.close()
})

t.test('Back and the navigation in the middle of typing: what was typed is there again', async (t) => {
  const page = await console.signedIn(`seats/${editor}`)
  await page.getByRole('link', { name: 'Edit' }).click()
  await isAt(page, 'Edit Editor')
  await page.getByRole('combobox', { name: 'Permissions' }).fill('trainings:create,')
  await page.getByRole('button', { name: 'Remove trainings:create' }).waitFor()
  await page.goBack()
  await isAt(page, 'Editor')
  await page.goForward()
  await page.getByText('This is what you typed here and did not save.').waitFor()
  await page.getByRole('button', { name: 'Remove trainings:create' }).waitFor()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Routes' }).click()
  await isAt(page, 'Routes')
  await console.follow(page, 'seats/new')
  await isAt(page, 'New Seat')
  t.equal(await page.getByText('This is what you typed').count(), 0, 'another form is empty')
  await gateway.admin('PUT', `/v1/seats/${editor}`, { permissions: ['trainings:list', 'files:read'] })
  await console.follow(page, `seats/${editor}/edit`)
  await review(page)
  await dialog(page).getByRole('button', { name: 'Save the change' }).click()
  await dialog(page).getByText('The Seat was changed meanwhile').waitFor()
  t.pass('a draft is a change of the version that it began from')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Start anew' }).click()
  await page.getByRole('button', { name: 'Remove files:read' }).waitFor()
  t.equal(await page.getByRole('button', { name: 'Remove trainings:create' }).count(), 0)
  await page.getByRole('combobox', { name: 'Permissions' }).fill('trainings:delete,')
  await page.getByRole('link', { name: 'Cancel' }).click()
  await isAt(page, 'Editor')
  await page.getByRole('link', { name: 'Edit' }).click()
  await isAt(page, 'Edit Editor')
  t.equal(await page.getByText('This is what you typed').count(), 0, 'Cancel keeps nothing')
  await page.getByRole('combobox', { name: 'Permissions' }).fill('trainings:delete,')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await console.signIn(page)
  await isAt(page, 'Edit Editor')
  t.equal(await page.getByText('This is what you typed').count(), 0, 'nor does a sign-out')
  await page.close()
})

t.test('a save whose page was left does not bring it back', async (t) => {
  const page = await console.signedIn(`seats/${editor}/edit`)
  await page.getByRole('combobox', { name: 'Permissions' }).fill('trainings:read,')
  await review(page)
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/v1/seats/*', async (route) => {
    if (route.request().method() === 'PUT') await held
    await route.continue()
  })
  const save = dialog(page).getByRole('button', { name: 'Save the change' })
  await save.waitFor()
  await until(() => save.isEnabled(), 'the plan is there')
  const answered = page.waitForResponse((answer) => answer.request().method() === 'PUT')
  await save.click()
  await page.keyboard.press('Escape')
  await console.follow(page, 'users')
  await isAt(page, 'Users')
  release()
  t.equal((await answered).status(), 200)
  await console.follow(page, `seats/${editor}/edit`)
  await page.getByRole('button', { name: 'Remove trainings:read' }).waitFor()
  t.equal(await page.getByText('This is what you typed').count(), 0, 'it is saved')
  await page.close()
})

t.test('a new key is not lost by Escape before it is copied', async (t) => {
  const page = await console.signedIn('api-keys')
  await page.getByRole('button', { name: 'New API key' }).click()
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('careless')
  await dialog(page).getByRole('button', { name: 'Create the key' }).click()
  const key = (await dialog(page).locator('.secret').textContent())?.trim() ?? ''
  world.secrets.add(key)
  await page.keyboard.press('Escape')
  await dialog(page).getByText('The key is not copied yet.').waitFor()
  t.equal((await dialog(page).locator('.secret').textContent())?.trim(), key)
  await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`)
  await dialog(page).getByRole('button', { name: 'Copy the key' }).click()
  await dialog(page).getByText('The browser forbids copying: select the text').waitFor()
  await dialog(page).getByRole('button', { name: 'Close' }).click()
  await dialog(page).waitFor({ state: 'detached' })
  await page.close()
})

t.test('ends of blocks and times of filters that are none', async (t) => {
  const page = await console.signedIn('users?sub=alice')
  await page.getByRole('button', { name: 'Block…' }).click()
  await dialog(page).getByRole('combobox', { name: 'Ends' }).selectOption({ label: 'at a time…' })
  const until_ = dialog(page).getByLabel('Until, in your time zone')
  const send = dialog(page).getByRole('button', { name: 'Block the user' })
  await send.click()
  t.equal(await dialog(page).count(), 1, 'without a time, nothing is sent')
  await until_.fill('2020-01-01T00:00')
  await send.click()
  await alert(page, 'must be in the future')
  await until_.evaluate(
    `(field) => { field.value = '275000-01-01T00:00'; field.dispatchEvent(new InputEvent('input')) }`,
  )
  await send.click()
  t.equal(await dialog(page).count(), 1, 'nor with a year of six digits')
  t.same(
    (await gateway.admin('GET', '/v1/blocks')).json.data.map(({ user }: { user: string }) => user),
    ['mallory'],
  )
  await page.keyboard.press('Escape')
  await console.follow(page, 'audit?since=yesterday')
  await alert(page, /since/)
  t.equal(await page.getByRole('article').count(), 0, 'a filter that is no time shows no more than it says')
  await page.close()
})

t.test('an answer of Explain does not stay beside another question', async (t) => {
  const page = await console.signedIn(
    'explain?method=GET&path=%2Fv1%2Ftrainings&space=main&by=seats&seats=Editor',
  )
  await page.locator('.verdict').waitFor()
  await page.getByRole('combobox', { name: 'Method' }).fill('POST')
  t.equal(await page.locator('.verdict').count(), 0)
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/v1/access/explain', async (route) => {
    const answer = await route.fetch()
    await held
    await route.fulfill({ response: answer })
  })
  const answered = page.waitForResponse('**/v1/access/explain')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Asking…' }).waitFor()
  await page.getByRole('textbox', { name: 'Space' }).fill('north')
  release()
  await (await answered).finished()
  await page.unroute('**/v1/access/explain')
  await page.getByRole('button', { name: 'Explain' }).click()
  await page.locator('.verdict').filter({ hasText: 'no_seat_in_space' }).waitFor()
  await page.close()
})

t.test('an answer of another form, such as that of another version, fails its page alone', async (t) => {
  const page = await console.signedIn('routes')
  await page.route('**/v1/seats?*', (route) =>
    route.fulfill({ json: { data: [{ id: '1' }], has_more: false } }),
  )
  await console.follow(page, 'seats')
  await isAt(page, 'This page failed')
  await alert(page, 'The console failed')
  await page.unroute('**/v1/seats?*')
  await page.getByRole('alert').getByRole('button').click()
  await isAt(page, 'Seats')
  await page.getByRole('link', { name: 'Editor', exact: true }).waitFor()
  t.pass('it is read again by the button')
  await page.close()
})

t.test('no page violated its policy or failed', (t) => {
  t.same(console.faults, [])
  t.end()
})
