/** The HTTP messages of the manual, sent to a gateway: the responses are those that it shows. */

import t from 'tap'
import { keyFile } from '../identity/support.ts'
import { startWorld } from '../support/world.ts'
import { exchangesOf } from './messages.ts'
import { pages, placeOf } from './pages.ts'
import { differences, formDifferences, pairs } from './same.ts'

/** With tests of their own: they need a provider, and a decision listener. */
const ELSEWHERE = new Set(['docs/sign-in.md', 'docs/authzen.md'])
/** Whose response tells what happened lately: it has the form that is shown, with other values. */
const OF_NOW = /^\/v1\/(?:fleet|decisions|routes|revocations)\b/
/** Pages whose caller holds a Seat already. */
const WITH_SEAT = new Set(['README.md', 'docs/errors.md'])

for (const page of pages.filter((each) => !ELSEWHERE.has(each))) {
  const exchanges = exchangesOf(page)
  if (exchanges.length === 0) continue
  t.test(page, async (t) => {
    const world = await startWorld(t, { top: [`identity: { keys: [${keyFile(t)}] }`] })
    if (WITH_SEAT.has(page)) await world.seat('Viewer', ['main'], ['trainings:list'])
    const known = new Map([
      ['$KEY', world.keys['acme'] ?? ''],
      ['$TOKEN', await world.token(['main:Viewer'])],
    ])
    const told = (text: string) =>
      [...known].reduce((changed, [from, to]) => changed.replaceAll(from, to), text)
    for (const { block, method, target, headers, body, status, shown } of exchanges) {
      const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, told(value)]))
      const answer = await world.client.send(method, told(target), sent, body === '' ? undefined : told(body))
      t.equal(answer.status, status, `${placeOf(block)}: ${answer.body}`)
      const came: unknown = answer.body === '' ? undefined : answer.json
      const compare = OF_NOW.test(target) ? formDifferences : differences
      t.same(compare(shown, came), [], placeOf(block))
      for (const [from, to] of pairs(shown, came)) known.set(from, to)
    }
  })
}

t.test('differences are found', async (t) => {
  t.same(differences({ a: 1, b: ['x'] }, { a: 1, b: ['x'] }), [])
  t.equal(differences({ a: 1 }, { a: 2 }).length, 1)
  t.equal(differences({ a: 1 }, { a: 1, b: 2 }).length, 1)
  t.equal(differences({ b: ['x', 'y'] }, { b: ['x'] }).length, 1)
  t.same(differences({ a: 'eyJ…' }, { a: 'eyJhbGciOi' }), [])
  t.equal(differences({ a: 'eyJ…' }, { a: 'sgr_' }).length, 1)
  t.same(formDifferences({ a: 1, b: [{ c: 'x' }] }, { a: 2, b: [{ c: 'y' }, { c: 'z' }] }), [])
  t.equal(formDifferences({ a: 1 }, { a: '1' }).length, 1)
  t.equal(formDifferences({ b: [{ c: 'x' }] }, { b: [{ d: 'x' }] }).length, 2)
  t.equal(formDifferences({ b: ['x'] }, { b: [] }).length, 1)
})
