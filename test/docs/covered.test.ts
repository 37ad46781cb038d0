/** Every block of the manual runs in one of the tests here, or says why it does not. */

import t from 'tap'
import { blocksOf, pages, placeOf } from './pages.ts'

/** Languages that a test here runs. A JSON block is what the commands before it print. */
const RUN = new Set([
  ...['yaml', 'sh', 'console', 'http', 'json', 'nginx', 'caddyfile', 'lua', 'haproxy'],
  ...['js', 'go', 'python', 'java'],
])

const blocks = pages.flatMap(blocksOf)
const notRun = blocks.filter((block) => block.notRun !== null)

t.test('every block has a language that runs; a drawing has none', async (t) => {
  for (const block of blocks) t.ok(block.language === '' || RUN.has(block.language), placeOf(block))
})

t.test('JSON stands behind commands of the same page', async (t) => {
  for (const block of blocks.filter(
    ({ language, notRun: reason }) => language === 'json' && reason === null,
  )) {
    const before = blocks.filter(({ page, line }) => page === block.page && line < block.line).at(-1)
    t.equal(before?.language, 'sh', placeOf(block))
  }
})

t.test('few do not run, each with a reason', async (t) => {
  t.comment(`${notRun.length} of ${blocks.length} blocks do not run`)
  for (const block of notRun) t.comment(`${placeOf(block)}: ${block.notRun}`)
  t.ok(notRun.length <= 14)
})
