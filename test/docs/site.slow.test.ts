/**
 * The HTML of the manual in a browser, from its folder and from a server with a strict policy: readable on a phone
 * and on a desk, in both themes, with a search, and without a request to another host.
 */

import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import axe from 'axe-core'
import t from 'tap'
import { startChromium } from '../sign-in/chromium.ts'
import { listen } from '../support/listen.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { root } from './pages.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}
const POLICY = "default-src 'self'; script-src 'self'; style-src 'self'"

const folder = serverFolder(t, 'site')
execFileSync(process.execPath, ['docs/site/write.ts', '--out', folder], { cwd: root })
const server = createServer(async ({ url = '' }, response) => {
  const type = TYPES[extname(url)] ?? 'application/octet-stream'
  const body = await readFile(join(folder, url)).catch(() => null)
  response.writeHead(body === null ? 404 : 200, { 'content-type': type, 'content-security-policy': POLICY })
  response.end(body)
})
const origin = `http://127.0.0.1:${await listen(t, server)}`
/** Pages with wide tables, pictures and long lists. */
const SOME = ['index.html', 'configuration.html', 'console.html', 'benchmarks.html']
const names = globSync('*.html', { cwd: folder }).sort()

const browser = await startChromium(t)
const faults: string[] = []
browser.on('console', (message) => void faults.push(message.text()))
browser.on('weberror', (error) => void faults.push(String(error.error())))
browser.on('requestfailed', (request) => {
  const cause = request.failure()?.errorText ?? ''
  // The test went to the next page before the picture was there.
  if (cause !== 'net::ERR_ABORTED') faults.push(`${cause}: ${request.url()}`)
})
browser.on('request', (request) => {
  const url = request.url()
  if (!url.startsWith(origin) && !url.startsWith(`file://${folder}`)) faults.push(`another host: ${url}`)
})
const page = await browser.newPage()

t.test('no page is wider than its window', async (t) => {
  t.ok(names.length > 40)
  for (const [width, shown] of [
    [360, names],
    [1280, SOME],
  ] as const) {
    await page.setViewportSize({ width, height: 800 })
    for (const name of shown) {
      await page.goto(`${origin}/${name}`, { waitUntil: 'domcontentloaded' })
      const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      t.equal(excess, 0, `${name} at ${width}`)
    }
  }
})

for (const colorScheme of ['light', 'dark'] as const)
  t.test(`${colorScheme}: axe-core finds nothing`, async (t) => {
    await page.emulateMedia({ colorScheme })
    for (const name of SOME) {
      await page.goto(`${origin}/${name}`)
      // A policy is for the page; the test adds a script of its own.
      await page.evaluate(axe.source)
      const violations = await page.evaluate<string[]>(
        'axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes[0]?.html.slice(0, 200)))',
      )
      t.same(violations, [], name)
    }
  })

for (const [place, base] of [
  ['a server', origin],
  ['its folder', `file://${folder}`],
] as const)
  t.test(`the search finds sections, from ${place}`, async (t) => {
    await page.goto(`${base}/tls.html`)
    await page.keyboard.press('/')
    await page.locator(':focus').fill('seatgate revo')
    const first = page.locator('.results a').first()
    await first.waitFor()
    t.match(await first.textContent(), /revo/i)
    t.match(await page.locator('.results [role=status]').textContent(), /^\d+ sections$/)
    await page.keyboard.press('ArrowDown')
    const address = await first.getAttribute('href')
    t.equal(await page.evaluate('document.activeElement.getAttribute("href")'), address)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${base}/${address}`)
    await page.getByRole('searchbox').fill('zzzzzz')
    await page.getByText('No section has these words.').waitFor()
    await page.keyboard.press('Escape')
    t.equal(await page.locator('.results').isVisible(), false)
  })

t.test('on a phone, the list of pages is one step away', async (t) => {
  await page.setViewportSize({ width: 360, height: 740 })
  await page.goto(`${origin}/tls.html`)
  await page.getByRole('link', { name: 'Contents' }).click()
  await page.getByRole('navigation').getByRole('link', { name: 'Revocation' }).click()
  await page.waitForURL(`${origin}/revocation.html`)
  t.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Revocation')
})

t.test('no page violates a policy, fails, or asks another host', async (t) => t.same(faults, []))
