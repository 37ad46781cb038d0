/** The groups of SCIM in the console, in a real Chromium: to read, and hidden where they cannot be read. */

import t from 'tap'
import { giveScim, ScimWorld } from '../scim/support.ts'
import { startConsole } from './console.ts'

const console = await startConsole(t)
const { gateway } = console.world
const link = { name: 'Groups', exact: true } as const

t.test('a tenant without SCIM has no page of groups', async (t) => {
  const page = await console.signedIn('users')
  const navigation = page.getByRole('navigation', { name: 'Pages' })
  await navigation.getByRole('link', { name: 'Users' }).waitFor()
  t.equal(await navigation.getByRole('link', link).count(), 0)
  await console.follow(page, 'groups')
  await page.getByText('scim_not_configured').waitFor()
  await page.close()
})

t.test('groups, their Seats and their members', async (t) => {
  await giveScim(console.world, 'seats_from: scim, scim: { token: "${TOKEN}" }')
  const scim = new ScimWorld(gateway)
  const seat = await gateway.seat('Viewer', ['main'], ['trainings:list'])
  const many: string[] = []
  for (let at = 0; at < 101; at++) many.push(await scim.user(`user-${at}`, { active: at > 0 }))
  await scim.group('Staff', [many[0] ?? ''])
  const group = await scim.group('Viewer', many)
  const page = await console.signedIn('users')
  await page.getByText('the Seats that their groups give now').waitFor()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', link).click()
  await page.getByText('Active members have the Seat of the same name').waitFor()
  const staff = page.getByRole('row', { name: /^Staff/ })
  await staff.getByText('no Seat has this name').waitFor()
  t.same(await staff.getByRole('cell').allInnerTexts(), ['1', '0', 'no Seat has this name'])
  const search = page.getByRole('searchbox', { name: 'Part of a name' })
  await search.fill('vIeW')
  await search.press('Enter')
  await staff.waitFor({ state: 'detached' })
  const row = page.getByRole('row', { name: /^Viewer/ })
  t.same(await row.getByRole('cell').allInnerTexts(), ['101', '100', 'Viewer'])
  t.equal(
    await row.getByRole('cell').getByRole('link').getAttribute('href'),
    `/_seatgate/console/seats/${seat}`,
  )
  await row.getByRole('rowheader').getByRole('link').click()
  await page.getByText('101 members, of whom 100 are active').waitFor()
  t.match(page.url(), new RegExp(`/groups/${group}$`))
  await page.getByRole('row', { name: /^user-0 .*not active/ }).waitFor()
  t.equal(await page.getByRole('row', { name: /^user-100/ }).count(), 0, 'on the next page')
  await page.getByRole('button', { name: 'Show more' }).first().click()
  await page.getByRole('link', { name: 'user-100' }).click()
  await page
    .getByRole('heading', { level: 1, name: 'user-100@' })
    .or(page.getByRole('heading', { level: 1, name: 'user-100' }))
    .waitFor()
  await page.locator('.names').getByRole('link', { name: 'Viewer' }).waitFor()
  await scim.group('Crew', many.slice(0, 4))
  await console.follow(page, 'seats/new')
  await console.seatFormRests(page)
  await page.getByRole('textbox', { name: 'Name' }).fill('Crew')
  await page.getByRole('combobox', { name: 'Permissions' }).fill('trainings:list,')
  await page.getByRole('combobox', { name: 'Spaces' }).fill('main,')
  await page.getByRole('button', { name: 'Review the change…' }).click()
  await page.getByRole('dialog').getByText('3 users after the change: the active ones in the group').waitFor()
  await page.keyboard.press('Escape')
  await console.follow(page, `groups/${seat}`)
  await page.getByText('No such group').waitFor()
  await page.close()
})

t.test('without the right, or outside the admin space, the navigation does not have it', async (t) => {
  await gateway.seat('Reader', ['admin'], ['seats:list'])
  await gateway.seat('Main', ['main', 'admin'], ['seats:list', 'users:list'])
  const navigation = async (seat: string, space: string) => {
    const { key } = await console.keyOf(seat, [seat])
    console.world.secrets.add(key)
    const page = await console.signedIn('seats', key, space)
    await page.getByRole('heading', { level: 1, name: 'Seats' }).waitFor()
    return page
  }
  const count = (page: Awaited<ReturnType<typeof navigation>>) => page.getByRole('link', link).count()
  const reader = await navigation('Reader', '')
  t.equal(await count(reader), 0)
  await console.follow(reader, 'groups')
  await reader.getByText('permission_denied').waitFor()
  const main = await navigation('Main', 'main')
  t.equal(await count(main), 0)
  await main.getByRole('button', { name: 'change the space' }).click()
  const dialog = main.getByRole('dialog', { name: 'Change the space' })
  await dialog.getByRole('textbox', { name: 'Space' }).fill('admin')
  await dialog.getByRole('button', { name: 'Change', exact: true }).click()
  await main.getByRole('link', link).waitFor()
  t.same(console.faults, [])
})
