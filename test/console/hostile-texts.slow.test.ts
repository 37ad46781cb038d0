/**
 * XSS: script and HTML in everything that others may choose and the console shows. Nothing of it runs, becomes an element or the
 * target of a link; Trusted Types and the policy have nothing to report.
 */

import t from 'tap'
import { until } from '../support/until.ts'
import { giveScim, ScimWorld } from '../scim/support.ts'
import { startConsole } from './console.ts'

const console = await startConsole(t)
const { world } = console
const { gateway } = world

const RUN = 'globalThis.ran=true'
const HOSTILE = [
  `<img src=x onerror="${RUN}">`,
  `<script>${RUN}</script>`,
  `"><iframe srcdoc="<script>parent.${RUN}</script>">`,
  `javascript:${RUN}`,
]
await giveScim(world, 'scim: { token: "${TOKEN}" }')
const scim = new ScimWorld(gateway)
const ids: string[] = []
const groups: string[] = []
for (const [at, text] of HOSTILE.entries()) {
  ids.push(await gateway.seat(text, ['main', 'admin'], ['trainings:list']))
  await console.keyOf(`key ${text}`, [text])
  const sub = `user-${at} ${text}`
  world.user(sub, { memberOf: [text], email: `${at}${text}@acme.example`, email_verified: true, name: text })
  await world.visitor(sub).signIn()
  await gateway.admin('POST', '/v1/blocks', { user: sub, reason: `reason ${text}` })
  await gateway.admin('POST', '/v1/grants', {
    user: sub,
    seat: text,
    until: '2099-01-01T00:00:00Z',
    reason: `reason ${text}`,
  })
  const texts = { externalId: `scim ${sub}`, displayName: text }
  groups.push(await scim.group(text, [await scim.user(`${at} ${text}`, texts)]))
  const path = `/v1/trainings/${encodeURIComponent(text)}`
  await gateway.client.send('DELETE', path, { 'x-api-key': console.key, space: 'main' })
  await gateway.client.send('GET', `/v1/trainings?q=${encodeURIComponent(text)}`, { space: 'main' })
}
const [seat = ''] = ids
await gateway.admin('PUT', `/v1/seats/${seat}`, { permissions: ['trainings:list', 'trainings:create'] })
const asked = (text: string) => encodeURIComponent(text)

const PAGES = [
  ...['', 'routes', 'seats', 'api-keys', 'users', 'groups', 'grants', 'audit'],
  ...groups.map((id) => `groups/${id}`),
  ...ids.map((id) => `seats/${id}`),
  ...HOSTILE.flatMap((text, at) => [
    `users?sub=${asked(`user-${at} ${text}`)}`,
    // What a link that others sent may hold.
    `seats?name=${asked(text)}&space=${asked(text)}&permission=${asked(text)}`,
    `seats/${asked(text)}`,
    `api-keys?name=${asked(text)}`,
    `users?sub=${asked(text)}`,
    `groups?q=${asked(text)}`,
    `groups/${asked(text)}`,
    `routes?q=${asked(text)}`,
    `audit?actor=${asked(text)}&target=${asked(text)}&action=${asked(text)}&since=${asked(text)}`,
    `explain?method=GET&path=${asked(`/${text}`)}&space=${asked(text)}&by=user&who=${asked(text)}`,
  ]),
]

/** In the page: what became of the texts. */
const FOUND = `({
  ran: globalThis.ran === true,
  elements: [...document.querySelectorAll('img, script:not([src]), iframe, object, embed, base, form[action], [onerror], [onload]')]
    .map(({ outerHTML }) => outerHTML.slice(0, 200)),
  links: [...document.querySelectorAll('[href], [src]')].map(({ href, src }) => String(href ?? src))
    .filter((url) => !url.startsWith(location.origin + '/')),
})`

const clean = { ran: false, elements: [], links: [] }
const page = await console.signedIn()

t.test('each page shows them as text', async (t) => {
  for (const path of PAGES) {
    await console.open(page, path)
    t.same(await page.evaluate(FOUND), clean, path)
  }
  for (const path of ['seats', 'groups']) {
    await console.open(page, path)
    for (const text of HOSTILE) t.match(await page.textContent('main'), text, `${path}: the whole text`)
  }
})

t.test('so do the dialogs', async (t) => {
  const dialog = page.getByRole('dialog')
  const DIALOGS: [path: string, button: string | RegExp][] = [
    [`seats/${seat}`, 'Delete…'],
    ['api-keys', `Revoke key ${HOSTILE[0]}…`],
    ['routes', /^Who can call GET \/v1\/trainings\?$/],
  ]
  for (const [path, name] of DIALOGS) {
    await console.open(page, path)
    await page.getByRole('button', { name }).click()
    await dialog.waitFor()
    await until(async () => (await page.locator('.loading').count()) === 0, `${path}: loaded`)
    t.match(await dialog.textContent(), HOSTILE[0])
    t.same(await page.evaluate(FOUND), clean, `${path} ${name}`)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }
  await console.open(page, `seats/${seat}/edit`)
  await page.getByRole('button', { name: 'Remove trainings:create' }).click()
  await page.getByRole('button', { name: 'Review the change…' }).click()
  await dialog.getByRole('heading', { name: 'Whom it touches' }).waitFor()
  t.same(await page.evaluate(FOUND), clean, 'the preview')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

t.test('nothing was reported', (t) => {
  t.same(console.faults, [])
  t.end()
})

t.test('reports would be seen, and the page would be protected', async (t) => {
  const tried = await page.evaluate<string>(
    `(() => { try { document.body.innerHTML = '<b>x</b>'; return 'taken' } catch ({ name }) { return name } })()`,
  )
  t.equal(tried, 'TypeError', 'a text is no markup, by Trusted Types')
  await page.evaluate(
    `(() => { const image = new Image(); image.src = 'https://evil.example/x'; document.body.append(image) })()`,
  )
  await until(() => console.faults.some((each) => each.includes('img-src')), 'the report of a foreign image')
  t.ok(console.faults.some((each) => /trusted/i.test(each)))
})
