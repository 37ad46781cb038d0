/** Each page of the console in both themes and from 360 pixels to wide: axe-core finds nothing, and nothing is cut off. */

import axe from 'axe-core'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { giveScim, ScimWorld } from '../scim/support.ts'
import { until } from '../support/until.ts'
import { startConsole } from './console.ts'

const console = await startConsole(t)
const { world } = console
const { gateway } = world
const RIGHT_TO_LEFT = `مدير ${'س'.repeat(80)}`
const seat = await gateway.seat('Editor', ['main', 'north'], ['trainings:list', 'trainings:create'])
await gateway.seat(
  'N'.repeat(256),
  Array.from({ length: 40 }, (_, at) => `space-${at}`),
  ['trainings:list'],
)
await gateway.seat(RIGHT_TO_LEFT, ['main'], ['*'])
const key = await console.keyOf('W'.repeat(256), ['N'.repeat(256), 'Editor'])
world.user('alice', {
  memberOf: ['Editor', RIGHT_TO_LEFT],
  email: 'alice@acme.example',
  email_verified: true,
})
await world.visitor('alice').signIn()
await gateway.admin('POST', '/v1/blocks', { user: 'alice', reason: 'r'.repeat(500) })
const until2099 = '2099-01-01T00:00:00Z'
const granted = { user: 'u'.repeat(300), seat: 'N'.repeat(256), until: until2099, reason: 'r'.repeat(500) }
await gateway.admin('POST', '/v1/grants', granted)
await gateway.admin('POST', '/v1/revocations', { subject: { user: 'alice' }, reason: 'r'.repeat(500) })

await giveScim(world, 'scim: { token: "${TOKEN}" }')
const scim = new ScimWorld(gateway)
const person = { displayName: RIGHT_TO_LEFT, active: false }
const group = await scim.group('N'.repeat(256), [await scim.user('u'.repeat(255), person)])

const PAGES = [
  '',
  'routes',
  'seats',
  'seats?name=nothing-like-it',
  'seats/new',
  `seats/${seat}`,
  `seats/${seat}/edit`,
  'api-keys',
  `api-keys/${key.id}`,
  'users',
  'users?q=stranger',
  'users?sub=alice',
  'groups',
  'groups?q=nothing-like-it',
  `groups/${group}`,
  'grants',
  'audit',
  'explain',
]
/** Of buttons that open a dialog. */
const DIALOGS = [
  [`seats/${seat}`, 'Delete…'],
  ['api-keys', 'New API key'],
  [`api-keys/${key.id}`, 'Revoke…'],
  ['users?sub=alice', 'Revoke…'],
  ['users?sub=alice', 'Show…'],
  ['grants', 'New grant'],
  ['grants', 'End the grant'],
  ['', 'change the space'],
] as const

const STANDARD = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** A theme differs in its colours alone. */
const RULES = { light: STANDARD, dark: ['color-contrast'] }

function run(rules: readonly string[]): string {
  return `axe.run(document, { runOnly: ${JSON.stringify(rules)} }).then(({ violations }) => violations.map(({ id, nodes }) =>
    id + ': ' + nodes.map(({ html, any }) => html.slice(0, 200) + ' ' + (any[0]?.message ?? '')).join(' | ')))`
}

/** What reaches beyond the window, where the page does. */
const TOO_WIDE = `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('main *')]
  .filter((each) => each.getBoundingClientRect().right > innerWidth && !each.closest('.table-box table'))
  .map((each) => each.outerHTML.slice(0, 120))`

async function judge(t: Test, page: Page, rules: readonly string[], what: string): Promise<void> {
  await page.evaluate(axe.source)
  t.same(await page.evaluate<string[]>(run(rules)), [], what)
}

for (const colorScheme of ['light', 'dark'] as const)
  t.test(`${colorScheme}: no violation`, async (t) => {
    const rules = RULES[colorScheme]
    const page = await console.page()
    await page.emulateMedia({ colorScheme })
    await judge(t, page, rules, 'sign-in')
    await console.signIn(page)
    for (const path of PAGES) {
      await console.open(page, path)
      await judge(t, page, rules, path)
    }
    for (const [path, name] of DIALOGS) {
      await console.open(page, path)
      await page.getByRole('button', { name }).click()
      await page.getByRole('dialog').waitFor()
      await until(async () => (await page.locator('dialog .loading').count()) === 0, `${name}: loaded`)
      await judge(t, page, rules, `${path}: ${name}`)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await page.close()
  })

t.test('no page is wider than its window', async (t) => {
  const page = await console.signedIn()
  for (const width of [360, 800, 1440]) {
    await page.setViewportSize({ width, height: 800 })
    for (const path of PAGES) {
      await console.open(page, path)
      t.same(await page.evaluate(TOO_WIDE), [], `${width} ${path}`)
    }
  }
  await page.close()
})

t.test('no page violated its policy or failed', (t) => {
  t.same(console.faults, [])
  t.end()
})
