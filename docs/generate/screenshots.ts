/**
 * `npm run docs:screenshots`: writes the pictures of docs/console.md. It starts the demo, fills it as a tenant would, and opens
 * each page of its console in Chromium, in both themes. Ids and times differ from run to run, so no test compares the pictures.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { findProgram } from '../../test/support/servers/binaries.ts'
import { until } from '../../test/support/until.ts'

const DEMO = fileURLToPath(new URL('../../test/demo/demo.ts', import.meta.url))
const PICTURES = fileURLToPath(new URL('../images/', import.meta.url))
const HOME = '/_seatgate/console/'
const SIZE = { width: 1024, height: 560 }
/** Of pages that are long. */
const TALL = { ...SIZE, height: 900 }

const SEATS = [
  {
    name: 'Trainer',
    spaces: ['main', 'north'],
    permissions: ['trainings:list', 'trainings:read', 'trainings:update'],
  },
  { name: 'File reader', spaces: ['main', 'north', 'south'], permissions: ['files:read'] },
  { name: 'Importer', spaces: ['main'], permissions: ['trainings:import'] },
  {
    name: 'Auditor',
    spaces: ['admin'],
    permissions: ['audit:list', 'seats:list', 'seats:read', 'users:list'],
  },
  {
    name: 'Support',
    spaces: ['admin'],
    permissions: ['users:list', 'sessions:list', 'blocks:create', 'blocks:list'],
  },
  { name: 'Manager north', spaces: ['north'], permissions: ['seats:list', 'seats:read', 'seats:update'] },
]
const MONTH = 30 * 86_400_000
const KEYS = [
  { name: 'nightly export', seats: ['Viewer', 'File reader'] },
  { name: 'scheduler', seats: ['Viewer', 'Editor'], owner: 'bob' },
  { name: 'import of 2026', seats: ['Importer'], expires_at: new Date(Date.now() + MONTH).toISOString() },
  { name: 'old dashboard', seats: ['Viewer'] },
]

interface Named {
  readonly id: string
  readonly name: string
}

/** What is read of answers: of a key that was created, or of a list. */
interface Answer {
  readonly id: string
  readonly key: string
  readonly data: readonly Named[]
}

interface Demo {
  readonly origin: string
  readonly key: string
  readonly alice: string
  readonly bob: string
}

const program = await findProgram('chromium')
await mkdir(PICTURES, { recursive: true })
const env = { ...process.env, SEATGATE_LISTEN: '127.0.0.1:0', SEATGATE_OPS: '127.0.0.1:0' }
const child = spawn(process.execPath, [DEMO], { env, stdio: ['ignore', 'pipe', 'inherit'] })
const ended = once(child, 'exit')
const browser = await chromium.launch({
  executablePath: program.path,
  args: ['--no-sandbox', '--disable-gpu'],
  env: { ...process.env, ...program.env },
})
try {
  const demo = await started(child)
  await signInUsers(browser, demo)
  const editor = await fill(demo)
  for (const colorScheme of ['light', 'dark'] as const) await takePictures(browser, demo, editor, colorScheme)
} finally {
  await browser.close()
  child.kill('SIGINT')
  await ended
}

/** Reads what the demo prints. */
async function started({ stdout }: ChildProcess): Promise<Demo> {
  let out = ''
  stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString()
  })
  await until(
    () => out.includes('Ctrl-C'),
    () => `the demo prints its introduction; it printed ${out}`,
  )
  const found = (pattern: RegExp) => pattern.exec(out)?.[1] ?? ''
  return {
    origin: found(/(http:\/\/localhost:\d+)\/_seatgate/),
    key: found(/^KEY='(.+)'/m),
    alice: found(/^ALICE='(.+)'/m),
    bob: found(/^BOB='(.+)'/m),
  }
}

/** Each at the sample provider, in a browser of their own. */
async function signInUsers(browser: Browser, { origin }: Demo): Promise<void> {
  for (const name of ['Alice', 'Bob', 'Carol']) {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(origin + HOME)
    await page.getByLabel('Identity provider').check()
    await page.getByRole('textbox', { name: 'Tenant' }).fill('acme')
    // Of these users, Carol alone has rights in the admin space.
    if (name !== 'Carol') await page.getByRole('textbox', { name: 'Space' }).fill('main')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name }).click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await context.close()
  }
}

/** Seats, API keys, changes and requests. @returns the id of Seat Editor */
async function fill({ origin, key, alice, bob }: Demo): Promise<string> {
  const ask = async (method: string, path: string, headers: Record<string, string>, body?: unknown) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await fetch(origin + path, { method, headers: { ...type, ...headers }, ...sent })
    return (await answer.json().catch(() => ({}))) as Answer
  }
  const admin = (method: string, path: string, body?: unknown) =>
    ask(method, path, { 'x-api-key': key, space: 'admin' }, body)
  for (const seat of SEATS) await admin('POST', '/v1/seats', seat)
  const keys: Answer[] = []
  for (const each of KEYS) keys.push(await admin('POST', '/v1/api-keys', each))
  const { data: seats } = await admin('GET', '/v1/seats')
  const idOf = (name: string) => seats.find((each) => each.name === name)?.id ?? ''
  const editor = idOf('Editor')
  const permissions = ['trainings:create', 'trainings:update', 'trainings:delete']
  await admin('PUT', `/v1/seats/${editor}`, { permissions: [...permissions, 'trainings:import'] })
  await admin('PUT', `/v1/seats/${editor}`, { permissions })
  await admin('PUT', `/v1/seats/${idOf('Trainer')}`, { spaces: ['main', 'north', 'south'] })

  const callers: Record<string, string>[] = [
    { authorization: `Bearer ${bob}` },
    { authorization: `Bearer ${alice}` },
    { 'x-api-key': keys[0]?.key ?? '' },
    { 'x-api-key': keys[1]?.key ?? '' },
  ]
  const requests = [
    ...['GET /v1/trainings', 'GET /v1/trainings', 'GET /v1/trainings/7', 'GET /v1/trainings/12'],
    ...['PUT /v1/trainings/7', 'DELETE /v1/trainings/7', 'GET /v1/files/plan.pdf', 'GET /v1/me'],
  ]
  for (let round = 0; round < 5; round++)
    for (const caller of callers)
      for (const request of requests) {
        const [method = '', path = ''] = request.split(' ')
        await ask(
          method,
          path,
          { ...caller, space: 'main' },
          method === 'PUT' ? { title: 'Ladders' } : undefined,
        )
      }
  await ask('GET', '/v1/trainings', { space: 'main' })
  await ask('GET', '/v1/invoices', { ...callers[0], space: 'main' })
  await admin('DELETE', `/v1/api-keys/${keys[3]?.id}`)
  const until = new Date(Date.now() + MONTH).toISOString()
  await admin('POST', '/v1/blocks', { user: 'alice', reason: 'Lost her laptop', until })
  return editor
}

async function takePictures(
  browser: Browser,
  { origin, key }: Demo,
  editor: string,
  colorScheme: 'light' | 'dark',
): Promise<void> {
  const context = await browser.newContext({
    colorScheme,
    viewport: SIZE,
    timezoneId: 'UTC',
    locale: 'en-GB',
  })
  const page = await context.newPage()
  const shoot = async (name: string, size = SIZE) => {
    await page.setViewportSize(size)
    await until(async () => (await page.locator('.loading').count()) === 0, `${name}: loaded`)
    // Nothing is under the pointer.
    await page.mouse.move(size.width - 1, size.height - 1)
    await page.screenshot({ path: `${PICTURES}console-${name}-${colorScheme}.png`, animations: 'disabled' })
  }
  await page.goto(origin + HOME)
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  await shoot('sign-in')
  await page.getByLabel('API key', { exact: true }).and(page.locator('input[type=password]')).fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  await page.getByText('Who was refused').waitFor()
  await shoot('overview', TALL)
  for (const name of ['Routes', 'Seats', 'API keys', 'Users', 'Audit']) {
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
    await shoot(name.toLowerCase().replace(' ', '-'))
  }
  await follow(page, `${HOME}users?sub=alice`)
  await page.getByText('Lost her laptop').waitFor()
  await shoot('user')
  await follow(page, `${HOME}seats/${editor}`)
  await page.getByRole('heading', { level: 1, name: 'Editor' }).waitFor()
  await shoot('seat')
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await page.getByRole('button', { name: 'Remove trainings:delete' }).click()
  await page.getByRole('button', { name: 'Review the change…' }).click()
  await page.getByRole('heading', { name: 'Whom it touches' }).waitFor()
  await shoot('preview')
  await page.keyboard.press('Escape')
  page.on('dialog', (dialog) => void dialog.accept())
  await follow(page, `${HOME}explain?by=user&who=bob&method=DELETE&path=%2Fv1%2Ftrainings%2F7&space=north`)
  await page.getByRole('heading', { level: 1, name: 'Explain' }).waitFor()
  await page.getByText('permission_denied').or(page.getByText('no_seat_in_space')).first().waitFor()
  await shoot('explain', TALL)
  await context.close()
}

/** As a link of a page does: a new load would forget the key. */
async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(`(() => { const link = document.createElement('a'); link.href = ${JSON.stringify(path)};
    document.body.append(link); link.click(); link.remove() })()`)
}
