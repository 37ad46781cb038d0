/**
 * `node bench/first-page.ts`: how long the console takes to its first page in Chromium on loopback, with an
 * empty cache and a processor that is slowed down fourfold (Emulation.setCPUThrottlingRate of the Chrome
 * DevTools Protocol).
 */

import t from 'tap'
import { startConsole } from '../test/console/console.ts'
import { until } from '../test/support/until.ts'

const ROUNDS = 11
const SLOWER = 4

/**
 * Runs in the page: milliseconds from the navigation until the first form, and then the first table, are
 * painted.
 */
const WATCH = `new MutationObserver(() => {
  for (const [name, selector] of [['form', 'input[type=password]'], ['table', 'main table']])
    if (!(name in painted) && document.querySelector(selector) !== null) {
      painted[name] = null
      requestAnimationFrame(() => setTimeout(() => (painted[name] = performance.now())))
    }
}).observe(document, { childList: true, subtree: true })
globalThis.painted = {}
addEventListener('keydown', ({ key }) => key === 'Enter' && (painted.enter = performance.now()), true)`

interface Painted {
  readonly form: number
  readonly enter: number
  readonly table: number
}

const console = await startConsole(t)
console.world.user('alice', { memberOf: [], email: 'alice@acme.example', email_verified: true })
await console.world.visitor('alice').signIn()
const rounds: Painted[] = []
for (let round = 0; round < ROUNDS; round++) {
  const page = await console.context.newPage()
  const devTools = await console.context.newCDPSession(page)
  await devTools.send('Network.enable')
  await devTools.send('Network.setCacheDisabled', { cacheDisabled: true })
  await devTools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
  await page.addInitScript(WATCH)
  await page.goto(console.url('seats'))
  await console.signIn(page)
  await until(() => page.evaluate<boolean>('painted.table > 0'), 'the list of Seats is painted')
  rounds.push(await page.evaluate<Painted>('painted'))
  await page.close()
}
const median = (times: readonly number[]) =>
  Math.round(times.toSorted((a, b) => a - b)[times.length >> 1] ?? NaN)
t.comment(
  `sign-in form, from the navigation: ${median(rounds.map(({ form }) => form))} ms (median of ${ROUNDS})`,
)
t.comment(`list of Seats, from Enter: ${median(rounds.map(({ enter, table }) => table - enter))} ms`)
t.pass('measured')
