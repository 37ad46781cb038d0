/**
 * The API key of a user of the console: while it is used, it is in the memory of the page and in one header alone; after the
 * sign-out, a snapshot of the page's heap does not have it either.
 */

import type { CDPSession } from 'playwright-core'
import t from 'tap'
import { until } from '../support/until.ts'
import { startConsole } from './console.ts'

const console = await startConsole(t)
const { world, context } = console
const { gateway } = world
await gateway.seat('Administrators', ['admin'], ['*'])

/** What a page and its origin keep. */
const KEPT = `(async () => JSON.stringify([
  { ...localStorage }, { ...sessionStorage }, history.state, location.href, document.cookie, name,
  await indexedDB.databases(), await caches.keys(), (await navigator.serviceWorker.getRegistrations()).length,
  performance.getEntries().map(({ name }) => name), document.documentElement.outerHTML,
]))()`

/** The whole heap of the page's scripts and elements. */
async function heapOf(session: CDPSession): Promise<string> {
  const chunks: string[] = []
  const keep = ({ chunk }: { chunk: string }) => void chunks.push(chunk)
  session.on('HeapProfiler.addHeapSnapshotChunk', keep)
  await session.send('HeapProfiler.collectGarbage')
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false })
  session.off('HeapProfiler.addHeapSnapshotChunk', keep)
  return chunks.join('')
}

t.test('the key is nowhere but in one header, and after the sign-out not in memory', async (t) => {
  const { key } = await console.keyOf('to be forgotten', ['Administrators'])
  world.secrets.add(key)
  const page = await console.page()
  const requests: { url: string; rest: string }[] = []
  page.on('request', (request) => {
    const { 'x-api-key': sent, ...headers } = request.headers()
    if (sent !== undefined && new URL(request.url()).origin !== world.origin) t.fail('it goes elsewhere')
    requests.push({ url: request.url(), rest: JSON.stringify(headers) + (request.postData() ?? '') })
  })
  await console.signIn(page, key)
  for (const name of ['Routes', 'Seats', 'API keys', 'Users', 'Audit', 'Explain', 'Overview']) {
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
  }
  const session = await context.newCDPSession(page)
  t.notMatch(await page.evaluate<string>(KEPT), key, 'while it is used')
  t.notMatch(JSON.stringify(await session.send('Page.getNavigationHistory')), key, 'the history')
  t.notMatch(JSON.stringify(await context.storageState({ indexedDB: true })), key, 'cookies and storage')
  t.ok(requests.length > 10)
  for (const { url, rest } of requests) t.notMatch(url + rest, key, url)
  t.ok((await heapOf(session)).includes(key), 'the search would find it')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You have signed out').waitFor()
  t.notMatch(await page.evaluate<string>(KEPT), key, 'after the sign-out')
  await until(async () => !(await heapOf(session)).includes(key), 'the memory of the page has forgotten it')
  t.notMatch(gateway.logText(), key, 'the log')
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
  t.notMatch(await page.content(), 'Administrators', 'Back shows nothing of the tenant')
  await page.close()
})

t.test('no page violated its policy or failed', (t) => {
  t.same(console.faults, [])
  t.end()
})
