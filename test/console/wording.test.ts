/** Messages of the endpoints in the words of the pages. */

import t from 'tap'

// The modules of the console are checked with the types of browsers, by a configuration of their own.
const MODULE: string = '../../seats-admin/console/wording.js'
const {
  placeText,
  toYou,
}: { placeText(pointer: string, sent: unknown): string; toYou(detail: string): string } = await import(MODULE)

t.test('a place is a field and what was sent there', (t) => {
  const sent = { name: 'x', seats: ['Viewer', 'a/b'], seats_map: { 'a/b~c': 'v' }, until: 5 }
  for (const [pointer, expected] of [
    ['/seats/0', 'seats "Viewer"'],
    ['/seats/1', 'seats "a/b"'],
    ['/name', 'name'],
    ['/expires_at', 'expires at'],
    ['/since', 'since'],
    ['/seats_map/a~1b~0c', 'seats map "v"'],
    ['/seats/7', 'seats, 7'],
    ['/until/x', 'until, x'],
    ['/toString/length', 'toString, length'],
  ] as const)
    t.equal(placeText(pointer, sent), expected, pointer)
  t.equal(placeText('/seats/0', undefined), 'seats, 0')
  t.ok(placeText('/seats/0', { seats: ['x'.repeat(1000)] }).length < 80, 'shortened')
  t.end()
})

t.test('the caller is the reader', (t) => {
  t.equal(
    toYou(
      "None of the caller's Seats in this space holds a:b. The credential names Seats that hold a:b in main.",
    ),
    'None of your Seats in this space holds a:b. You have Seats that hold a:b in main.',
  )
  t.equal(toYou('The credential names no Seat in this space.'), 'You have no Seat in this space.')
  t.end()
})
