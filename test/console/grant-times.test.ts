/** What is left of a grant, in words. */

import t from 'tap'

interface Module {
  termText(grant: { readonly from: string; readonly until: string }, now: number, locale: string): string
}

// The modules of the console are checked with the types of browsers, by a configuration of their own.
const path = '../../seats-admin/console/grant-times.js'
const { termText }: Module = await import(path)

const NOW = Date.UTC(2030, 0, 1)
const MINUTE = 60_000

function text(from: number, until: number): string {
  const time = (after: number) => new Date(NOW + after * MINUTE).toISOString()
  return termText({ from: time(from), until: time(until) }, NOW, 'en')
}

t.test('a grant in force', async (t) => {
  t.equal(text(-1, 0.5), 'ends in 30 seconds')
  t.equal(text(-1, 0.01), 'ends in 0 seconds')
  t.equal(text(0, 90), 'ends in 90 minutes')
  t.equal(text(-1, 239), 'ends in 3 hours', 'rounded down')
  t.equal(text(-1, 60 * 24 * 7), 'ends in 7 days')
})

t.test('a grant that begins later, and one that has ended', async (t) => {
  t.equal(text(120, 240), 'begins in 2 hours')
  t.equal(text(-120, 0), 'ended')
})
