/**
 * The walk of docs/console.md, in a real Chromium against `npm run demo`: who can delete a training, take it away from Seat Editor,
 * see who loses it, and see it refused. It prints the seconds of each step, without the time that a person reads.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium, type Page } from 'playwright-core'
import t from 'tap'
import { findProgram } from '../support/servers/binaries.ts'
import { until } from '../support/until.ts'
import { HOME } from './console.ts'

const MANUAL = new URL('../../docs/console.md', import.meta.url)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const program = await findProgram('chromium')
const env = { ...process.env, SEATGATE_LISTEN: '127.0.0.1:0', SEATGATE_OPS: '127.0.0.1:0' }
let last = performance.now()
const total = last

/** Prints the seconds since the step before. */
function done(step: string): void {
  const now = performance.now()
  t.comment(`${((now - last) / 1000).toFixed(1).padStart(5)} s  ${step}`)
  last = now
}

// A group of its own: npm starts the demo through a shell.
const demo = spawn('npm', ['run', '--silent', 'demo'], {
  env,
  cwd: ROOT,
  detached: true,
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(demo, 'exit')
t.teardown(async () => {
  if (demo.exitCode === null && demo.pid !== undefined) process.kill(-demo.pid, 'SIGINT')
  await ended
})
let out = ''
demo.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
await until(
  () => out.includes('Ctrl-C'),
  () => `the demo prints its introduction; it printed ${out}`,
)
const printed = (pattern: RegExp) => pattern.exec(out)?.[1] ?? ''
const address = printed(/in a browser on this machine: (\S+)/)
const key = printed(/^KEY='(.+)'/m)
const bob = printed(/^BOB='(.+)'/m)
const origin = new URL(address).origin
done('npm run demo, until it prints the address of the console')

const browser = await chromium.launch({
  executablePath: program.path,
  args: ['--no-sandbox', '--disable-gpu'],
  env: { ...process.env, ...program.env },
})
t.teardown(() => browser.close())
done('start of the browser')
const dialog = (page: Page) => page.getByRole('dialog')
const deletion = (id: number) =>
  fetch(`${origin}/v1/trainings/${id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${bob}`, space: 'main' },
  })

t.test('the walk of the manual', async (t) => {
  const own = await browser.newPage()
  await own.goto(address)
  await own.getByLabel('Identity provider').check()
  await own.getByRole('textbox', { name: 'Tenant' }).fill('acme')
  await own.getByRole('textbox', { name: 'Space' }).fill('main')
  await own.getByRole('button', { name: 'Continue to the provider' }).click()
  await own.getByRole('button', { name: 'Bob' }).click()
  await own.getByRole('navigation', { name: 'Pages' }).waitFor()
  await own.close()
  done('sign in as bob at the sample provider')
  t.equal((await deletion(1)).status, 204, 'bob deletes a training')
  done('bob deletes training 1')

  const page = await browser.newPage()
  await page.goto(address)
  await page.locator('input[type=password]').fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  await page.getByText('1 instance.').waitFor()
  done('sign in to the console with KEY')

  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Routes' }).click()
  await page.getByRole('searchbox', { name: 'Part of a route' }).fill('DELETE /v1/trainings')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Who can call DELETE /v1/trainings/{id}?' }).click()
  await dialog(page).getByRole('link', { name: 'bob@acme.example' }).waitFor()
  const who = (await dialog(page).textContent()) ?? ''
  for (const part of [/Editor in main/, /admin .*by \*/, /bootstrap/]) t.match(who, part)
  done('Routes: who can delete a training')

  await dialog(page).getByRole('link', { name: 'Editor', exact: true }).click()
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await page.getByRole('button', { name: 'Remove trainings:delete' }).click()
  await page.getByRole('button', { name: 'Review the change…' }).click()
  await dialog(page).getByRole('heading', { name: 'Whom it touches' }).waitFor()
  const loses = (await dialog(page).textContent()) ?? ''
  for (const part of ['trainings:delete', 'bob@acme.example', 'DELETE /v1/trainings/{id}'])
    t.match(loses, part)
  t.equal(
    (await deletion(7)).status,
    404,
    'nothing is changed yet: the service is asked, and has no such training',
  )
  done('Seat Editor: take trainings:delete away, and see who loses it')

  await dialog(page).getByRole('button', { name: 'Save the change' }).click()
  await page.getByText('changed the Seat').waitFor()
  done('save the change, until it holds everywhere')

  const refused = await deletion(2)
  t.equal(refused.status, 403)
  t.match(await refused.json(), { code: 'permission_denied' })
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Overview' }).click()
  const row = page
    .getByRole('region', { name: 'Who was refused', exact: true })
    .getByRole('row')
    .filter({ hasText: 'trainings:delete in main' })
  await row.getByText('bob@acme.example').waitFor()
  t.match(await row.textContent(), 'DELETE /v1/trainings/{id}')
  done("bob's next deletion is refused, and the Overview shows it")

  await page.close()
  t.comment(`${((performance.now() - total) / 1000).toFixed(1).padStart(5)} s  all`)
})

t.test('the manual names what the walk does', (t) => {
  const section = /## Ten minutes with the demo\n(.*?)\n## /s.exec(readFileSync(MANUAL, 'utf8'))?.[1] ?? ''
  const walk = section.replaceAll(/\s+/g, ' ')
  for (const part of [
    ...['npm run demo', HOME, 'KEY', 'Identity provider', 'acme', 'Bob', 'DELETE /v1/trainings', 'Who can?'],
    ...[
      'Editor',
      'trainings:delete',
      'Review the change',
      'Whom it touches',
      'Save the change',
      'Who was refused',
    ],
    ...['permission_denied'],
  ])
    t.ok(walk.includes(part), part)
  t.end()
})
