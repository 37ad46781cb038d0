/** Upstreams neither read nor write the sign-in session. */

import t from 'tap'
import { withoutSession } from '../../src/proxy/reserved-cookies.ts'
import { answering, front, get, seenBy, valuesOf } from './support.ts'
import { roundTrip } from '../support/raw-client.ts'

t.test('other cookies pass byte for byte', async (t) => {
  const same = [
    'a=b',
    'a=b; c="d e"; =x;;f',
    ' a=b ',
    '',
    '__Host-other=1',
    'x=__host-seat',
    '__Host-Seatgat=1',
  ]
  for (const cookie of same) t.equal(withoutSession(cookie), cookie)
})

t.test('the session cookie is removed at any position', async (t) => {
  const cases: [string, string | null][] = [
    ['__Host-seatgate=1', null],
    ['__Host-seatgate-session=1; a=b', 'a=b'],
    ['a=b; __Host-seatgate-session=1', 'a=b'],
    ['a=b; __Host-seatgate-session=1; c=d', 'a=b; c=d'],
    ['a=b;__Host-seatgate-session=1;c=d', 'a=b;c=d'],
    ['__Host-seatgate-a=1; __Host-seatgate-b=2;\t__Host-seatgate-c=3', null],
    ['__HOST-SEATGATE-session=1; a=b', 'a=b'],
    ['a="x; __Host-seatgate-session=1; y"', 'a="x; y"'],
    ['__Host-seatgate', null],
    ['=__Host-seatgate_session=1; a=b', 'a=b'],
    ['a=b; =__Host-seatgate_session=1', 'a=b'],
    ['a=b;\t= =__HOST-seatgate_session=1', 'a=b'],
    ['==__Host-seatgate', null],
  ]
  for (const [cookie, rest] of cases) t.equal(withoutSession(cookie), rest, cookie)
})

t.test('the last character of another cookie stays whole, whatever its bytes', async (t) => {
  t.equal(withoutSession('a=\xc3\xa0; __Host-seatgate_session=1'), 'a=\xc3\xa0', 'à')
  t.equal(withoutSession('__Host-seatgate_session=1;\xa0=b'), '\xa0=b')
  t.equal(withoutSession(' \t__Host-seatgate_session=1 ; \t'), null)
})

t.test('each Cookie line is separate', async (t) => {
  const seen = await seenBy(
    t,
    get('Cookie: a=1', 'cookie: __Host-seatgate-session=x', 'COOKIE: b=2; __Host-seatgate=y'),
  )
  t.same(valuesOf(seen, 'cookie'), ['a=1', 'b=2'])
})

t.test('an upstream cannot set one', async (t) => {
  const port = await answering(
    t,
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a=1\r\nSet-Cookie: __Host-seatgate-session=evil; Path=/\r\nSet-Cookie: =__Host-seatgate_session=evil\r\nSet-Cookie: \t=\t__Host-seatgate_session=evil; Secure\r\nSet-Cookie: =x\r\nSet-Cookie: x\r\nSet-Cookie: x; a=b\r\nSet-Cookie:\r\nSet-Cookie: __Host-seatgate_session; a=b\r\nset-cookie:  __host-SEATGATE=evil\r\nSet-Cookie: b=2\r\n\r\n',
  )
  const { port: gatewayPort } = await front(t, port)
  t.same(valuesOf(await roundTrip(gatewayPort, get()), 'set-cookie'), ['a=1', 'b=2'])
})
