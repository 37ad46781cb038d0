/** Hosts in one canonical form. */

import fc from 'fast-check'
import t from 'tap'
import { canonicalHost, hostMatches, isSameAuthority, wildcardOf } from '../../src/model/host.ts'
import { forwardedPath } from '../../src/model/route.ts'

t.test('spellings of one host', async (t) => {
  const spellings: Readonly<Record<string, readonly string[]>> = {
    'a.example': ['a.example', 'A.EXAMPLE', 'a.example.', 'a.example:1', 'a.example.:65535'],
    '[::1]': ['[::1]', '[0:0:0:0:0:0:0:1]:80', '[::0001]'],
    '[::ffff:7f00:1]': ['[::ffff:127.0.0.1]', '[::FFFF:7F00:1]'],
    '127.0.0.1': ['127.0.0.1', '127.0.0.1:80', '127.0.0.1.'],
    my_box: ['my_box', 'MY_BOX.'],
  }
  for (const [host, all] of Object.entries(spellings))
    for (const each of all) t.equal(canonicalHost(each), host, each)
})

t.test('the canonical form is its own', async (t) => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.domain(),
        fc.ipV6().map((each) => `[${each}]`),
        fc.ipV4(),
      ),
      (host) => {
        const canonical = canonicalHost(host)
        t.ok(canonical === null || canonicalHost(canonical) === canonical, host)
        t.ok(canonical === null || canonicalHost(`${canonical}:8080`) === canonical, host)
      },
    ),
    { numRuns: 300 },
  )
})

t.test('a name that URL parsers read as another one is none', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'aA0x1.:-_%[]@;/'), maxLength: 12 }), (text) => {
      const host = canonicalHost(text)
      if (host !== null) t.equal(URL.parse(`http://${text}`)?.hostname.replace(/\.$/, '') ?? host, host, text)
    }),
    { numRuns: 3000 },
  )
})

t.test('wildcards', async (t) => {
  t.equal(wildcardOf('a.example'), '*.example')
  t.equal(wildcardOf('a.b.example'), '*.b.example')
  for (const host of ['example', '1.2.3.4', '[::1]']) t.equal(wildcardOf(host), null, host)
  t.ok(hostMatches('*.example', 'a.example'))
  t.notOk(hostMatches('*.example', 'example'))
  t.notOk(hostMatches('*.example', 'a.b.example'))
})

t.test('the port of an authority counts as written', async (t) => {
  t.ok(isSameAuthority('a.example:80', 'A.example.:80'))
  t.notOk(isSameAuthority('a.example:80', 'a.example'))
  t.notOk(isSameAuthority('a.example:80', 'a.example:080'))
  t.ok(isSameAuthority('[::1]:80', '[0::1]:80'))
  t.notOk(isSameAuthority('[::1]', '[::2]'))
})

t.test('the forwarded path', async (t) => {
  t.equal(forwardedPath(null, '/a'), '/a')
  t.equal(forwardedPath({ strip: '/code', base: '' }, '/code'), '/')
  t.equal(forwardedPath({ strip: '/code', base: '' }, '/code/a'), '/a')
  t.equal(forwardedPath({ strip: '/code', base: '/api' }, '/code'), '/api/')
  t.equal(forwardedPath({ strip: '', base: '/api' }, '/a'), '/api/a')
  for (const path of ['/codex', '/other', '/cod', ''])
    t.throws(() => forwardedPath({ strip: '/code', base: '' }, path), path)
})
