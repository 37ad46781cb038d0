/**
 * The pages in narrow windows, in a real Chromium: a phone, a window of 1280 pixels at 200 %, and the narrowest that is supported. No
 * page scrolls sideways, no cell reaches into the next one, and the button of each row is in sight.
 */

import type { Page } from 'playwright-core'
import t from 'tap'
import { giveScim, ScimWorld } from '../scim/support.ts'
import { startConsole } from './console.ts'

const console = await startConsole(t)
const { world } = console
const { gateway } = world
const long = 'Exports of the reporting department of the northern region'
const seat = await gateway.seat(long, ['main', 'north', 'south'], ['trainings:list', 'trainings:create'])
const key = await console.keyOf('nightly export of the reporting department', [long])
world.user('alice', {
  memberOf: [long],
  email: 'alice.of.the.reporting.department@acme.example',
  email_verified: true,
})
world.secrets.add(console.key)
await world.visitor('alice').signIn()
await gateway.admin('POST', '/v1/blocks', { user: 'alice', reason: 'left the company' })
for (const subject of [{ user: 'alice' }, { api_key: key.id }])
  await gateway.admin('POST', '/v1/revocations', { subject, reason: 'left the company' })

await giveScim(world, 'scim: { token: "${TOKEN}" }')
const scim = new ScimWorld(gateway)
const group = await scim.group(long, [await scim.user('alice.of.the.reporting.department@acme.example')])

const PAGES = [
  '',
  'routes',
  'seats',
  `seats/${seat}`,
  `seats/${seat}/edit`,
  'api-keys',
  `api-keys/${key.id}`,
  'users',
  'users?sub=alice',
  'groups',
  `groups/${group}`,
  'audit',
  'explain?method=GET&path=%2Fv1%2Ftrainings&space=main&by=user&who=alice',
]

/** Runs in the page: what is wrong with its layout. */
const FAULTS = `(() => {
  const faults = []
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth > clientWidth) faults.push('the page is ' + scrollWidth + ' wide in a window of ' + clientWidth)
  for (const cell of document.querySelectorAll('.table-box :is(td, th)')) {
    const { left, right, width } = cell.getBoundingClientRect()
    if (width === 0 || cell.querySelector('.unseen')) continue
    const range = document.createRange()
    range.selectNodeContents(cell)
    for (const part of range.getClientRects())
      if (part.width > 1 && (part.right > right + 1 || part.left < left - 1)) faults.push('outside its cell: ' + cell.textContent.trim())
  }
  for (const button of document.querySelectorAll('.table-box button')) {
    const { left, right } = button.getBoundingClientRect()
    const box = button.closest('.table-box').getBoundingClientRect()
    if (left < box.left || right > box.right) faults.push('out of sight: ' + button.textContent.trim())
  }
  return [...new Set(faults)]
})()`

const faultsOf = (page: Page) => page.evaluate<string[]>(FAULTS)

for (const [width, what] of [
  [1280, 'a wide window'],
  [640, 'a window of 1280 pixels at 200 %'],
  [390, 'a phone'],
  [360, 'the narrowest window'],
] as const)
  t.test(`${what}: ${width} pixels`, async (t) => {
    const page = await console.page()
    await page.setViewportSize({ width, height: 800 })
    await console.signIn(page)
    for (const path of PAGES) {
      await console.open(page, path)
      t.same(await faultsOf(page), [], `/${path}`)
    }
    await page.close()
  })

t.test('no page violated its policy or failed', (t) => {
  t.same(console.faults, [])
  t.end()
})
