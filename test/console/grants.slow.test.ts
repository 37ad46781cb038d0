/** Grants in the console, in a real Chromium: give one, see when it ends and who gave it, and end it. */

import t from 'tap'
import { until } from '../support/until.ts'
import { startConsole } from './console.ts'

const console = await startConsole(t)
const { gateway } = console.world
await gateway.seat('Viewer', ['main'], ['trainings:list'])
console.world.user('alice', { memberOf: ['Viewer'], email: 'alice@acme.example', email_verified: true })
await console.world.visitor('alice').signIn()
const token = await gateway.token([], { sub: 'eve' })
const status = async () =>
  (await gateway.client.send('GET', '/v1/trainings', { authorization: `Bearer ${token}`, space: 'main' }))
    .status

t.test('a grant, from its beginning to its end', async (t) => {
  const page = await console.signedIn('grants')
  await page.getByText('No grants are in force or begin later.').waitFor()
  t.equal(await status(), 403)
  await page.getByRole('button', { name: 'New grant' }).click()
  const dialog = page.getByRole('dialog', { name: 'New grant' })
  await dialog.getByRole('textbox', { name: 'User' }).fill('eve')
  await dialog.getByLabel('Seat').fill('Viewr')
  await dialog.getByRole('combobox', { name: 'Ends' }).selectOption({ label: 'in a day' })
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('on call')
  await dialog.getByRole('button', { name: 'Grant the Seat' }).click()
  await dialog.getByText('is not the name or the id of a Seat').waitFor()
  await dialog.getByLabel('Seat').fill('Viewer')
  await dialog.getByRole('button', { name: 'Grant the Seat' }).click()
  await dialog.waitFor({ state: 'detached' })
  const row = page.getByRole('row', { name: /eve/ })
  await row.getByText('ends in 23 hours').waitFor()
  await row.getByText('bootstrap').waitFor()
  await row.getByText('on call').waitFor()
  t.equal(await status(), 200)
  await page.getByRole('searchbox', { name: 'User' }).fill('nobody')
  await page.getByText('No grant matches.').waitFor()
  await page.getByRole('searchbox', { name: 'User' }).fill('EV')
  await row.getByRole('button', { name: 'End the grant of Viewer to eve…' }).click()
  const question = page.getByRole('dialog', { name: 'End the grant?' })
  await question.getByRole('button', { name: 'End the grant' }).click()
  await question.waitFor({ state: 'detached' })
  await page.getByText(/No grant matches|No grants are in force/).waitFor()
  t.equal(await status(), 403)
  await until(async () => (await page.getByRole('row', { name: /eve/ }).count()) === 0, 'the row is gone')
  t.same(console.faults, [])
})
