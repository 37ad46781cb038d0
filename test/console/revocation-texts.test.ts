/** Revocations in the words of the pages. */

import t from 'tap'

interface Reached {
  readonly how: 'acknowledged' | 'lease_ended' | null
  readonly cut: number | null
}

interface Texts {
  subjectText(subject: Readonly<Record<string, unknown>>): string
  unreachedText(what: string): string
  howText(instance: Reached): string
  isLeft(instance: Reached): boolean
  endedOf(ended: Readonly<Record<string, number>>): { count: number; one: string; many: string }[]
}

// The modules of the console are checked with the types of browsers, by a configuration of their own.
const MODULE: string = '../../seats-admin/console/revocation-texts.js'
const { subjectText, unreachedText, howText, isLeft, endedOf }: Texts = await import(MODULE)

t.test('a subject is written as lists take it', (t) => {
  t.equal(subjectText({ user: 'https://ci.example|repo:a:b' }), 'user:https://ci.example|repo:a:b')
  t.equal(subjectText({ api_key: '01KAJ0Z1V5Q8T2C0W7M3E9R4XD' }), 'api_key:01KAJ0Z1V5Q8T2C0W7M3E9R4XD')
  t.equal(subjectText({ tenant: true }), 'tenant')
  t.end()
})

t.test('an instance that has not said what it cut is left, however it was reached', (t) => {
  const left: readonly [Reached, boolean, RegExp][] = [
    [{ how: 'acknowledged', cut: 0 }, false, /^decides by it$/],
    [{ how: 'acknowledged', cut: 3 }, false, /^decides by it$/],
    [
      { how: 'acknowledged', cut: null },
      true,
      /has not said what it cut: it is slow, or of an older version/,
    ],
    [{ how: 'lease_ended', cut: null }, true, /does not answer/],
    [{ how: 'lease_ended', cut: 3 }, true, /does not answer/],
    [{ how: null, cut: null }, true, /not answered yet/],
  ]
  for (const [instance, expected, text] of left) {
    t.equal(isLeft(instance), expected, JSON.stringify(instance))
    t.match(howText(instance), text, JSON.stringify(instance))
  }
  t.end()
})

t.test('what has ended is listed in the order of the answer, without zeros', (t) => {
  const ended = { requests: 2, sessions: 1, streams: 0, websockets: 3, api_keys: 0 }
  t.same(
    endedOf(ended).map(({ count, one, many }) => [count, one, many]),
    [
      [1, 'session', 'sessions'],
      [3, 'WebSocket', 'WebSockets'],
      [2, 'request under way', 'requests under way'],
    ],
  )
  t.same(endedOf({ sessions: 0, api_keys: 0, websockets: 0, streams: 0, requests: 0 }), [])
  t.end()
})

t.test('what a later version cannot reach is named too', (t) => {
  t.match(unreachedText('signed_identity'), 'signed identity')
  t.equal(unreachedText('cached_pages'), 'cached pages')
  t.equal(unreachedText('constructor'), 'constructor')
  t.end()
})
