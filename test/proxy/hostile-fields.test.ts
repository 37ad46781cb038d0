/** Header sections that two parsers could read differently: 502, the connection closed, the next request unaffected. */

import t from 'tap'
import { HostileUpstream, passes, refused } from '../hostile/hostile-upstream.ts'
import { valuesOf } from './support.ts'

const hostile = await HostileUpstream.start(t)

const around = (lines: string) => `HTTP/1.1 200 OK\r\n${lines}\r\nContent-Length: 2\r\n\r\nok`

for (const [name, lines] of Object.entries({
  'no name': ': a',
  'a name alone': 'X-A',
  'a space in the name': 'X A: a',
  'a space before the colon': 'X-A : a',
  'a tab before the colon': 'X-A\t: a',
  'a space before the first name': ' X-A: a',
  'a bracket in the name': 'X(A: a',
  'a quote in the name': 'X"A: a',
  'a byte beyond ASCII in the name': 'X\xe9: a',
  'NUL in the name': 'X\x00: a',
  'CR in the name': 'X\r: a',
  'NUL in the value': 'X-A: a\x00b',
  'a control byte in the value': 'X-A: a\x01b',
  'DEL in the value': 'X-A: a\x7fb',
  'CR in the value': 'X-A: a\rX-B: b',
  'CR at the end of the value': 'X-A: a\r',
  'LF for the end of a line': 'X-A: a\nX-B: b',
  'a folded line': 'X-A: a\r\n b',
  'a line folded with a tab': 'X-A: a\r\n\tb',
  'an empty line folded on': 'X-A:\r\n \r\n b',
})) {
  t.test(name, (t) => refused(t, hostile, name, { packets: around(lines) }))
}

for (const [name, packets] of Object.entries({
  'LF as the end of the section': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\nok',
  'more fields than clients read': around('A: b\r\n'.repeat(2000).trimEnd()),
  'more bytes than the limit': around(`X-A: ${'a'.repeat(70_000)}`),
})) {
  t.test(name, (t) => refused(t, hostile, name, { packets }))
}

t.test('an endless section', async (t) => {
  const flood = (socket: import('node:net').Socket) => {
    const more = () => {
      while (socket.writable && socket.write('X-A: aaaaaaaaaaaaaaaa\r\n'));
    }
    socket.on('drain', more)
    more()
  }
  await refused(t, hostile, 'endless', { packets: 'HTTP/1.1 200 OK\r\n', after: flood })
})

t.test('as many fields as clients read, and names of object properties, pass', async (t) => {
  const names = ['__proto__', 'constructor', 'hasOwnProperty', 'toString']
  const lines = [...names.map((name) => `${name}: x`), ...Array.from({ length: 1900 }, () => 'A: b')]
  const { text } = await passes(t, hostile, 'fields', { packets: around(lines.join('\r\n')) }, 'ok', true)
  t.match(text, /^HTTP\/1\.1 200 OK\r\n/)
  for (const name of names) t.same(valuesOf(text, name.toLowerCase()), ['x'])
  t.equal(valuesOf(text, 'a').length, 1900)
})
