/** Names of certificates: exact before wildcard, one label, letters in any case. */

import t from 'tap'
import { CertificateNames } from '../../../src/http/server/tls-acceptor.ts'

t.test('the certificate of a name', async (t) => {
  const names = new CertificateNames<string>()
  names.add(['a.example', '*.example', '*.b.example', 'x.b.example'], 'first')
  names.add(['a.example', 'y.b.example', 'b.example'], 'second')
  for (const [name, found] of [
    ['a.example', 'first'],
    ['A.EXAMPLE.', 'first'],
    ['y.b.example', 'second'],
    ['z.b.example', 'first'],
    ['b.example', 'second'],
    ['c.example', 'first'],
    ['x.y.b.example', null],
    ['*.example', 'first'],
    ['example', null],
    ['.example', null],
    ['', null],
    ['.', null],
    ['constructor', null],
    ['a.example\0.evil', null],
  ] as const)
    t.equal(names.find(name), found, JSON.stringify(name))
})
