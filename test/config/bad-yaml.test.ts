/** Files that are not YAML, or YAML that two parsers could read differently: one clear line, never a stack. */

import t from 'tap'
import { BASE, configOf, faultsOf } from './support.ts'

const CASES: readonly [name: string, text: string, fault: RegExp][] = [
  ['empty', '', /^1:1: the file is empty$/],
  ['comments only', '# nothing\n', /^1:1: the file is empty$/],
  ['a word', 'hello', /^1:1: the file must be a map/],
  ['a list', '- a\n', /^1:1: the file must be a map/],
  ['a tab', 'a:\n\tb: 1\n', /^2:1: a tab in the indentation: YAML allows spaces only$/],
  ['a tab after spaces', 'a:\n  b: 1\n\tc: 1\n', /^3:1: a tab/],
  ['equal keys', `${BASE}ops: a:1\nops: b:1\n`, /^4:1: "ops" is a duplicate key: first in line 3$/],
  ['equal keys within', `${BASE}tenants: {}\n`, /^3:1: "tenants" is a duplicate key: first in line 1$/],
  ['equal keys, one quoted', `${BASE}'ops': a:1\nops: b:1\n`, /^4:1: "ops" is a duplicate key/],
  ['equal keys, one escaped', `${BASE}"\\x6fps": a:1\nops: b:1\n`, /^4:1: "ops" is a duplicate key/],
  ['an open double quote', 'listen: "x\nops: 1\n', /^1:9: this " is not closed$/],
  ['an open single quote', "listen: 'x\nops: 1\n", /^1:9: this ' is not closed$/],
  ['an open [', 'routes: [a, b\nops: 1\n', /^1:9: this \[ is not closed$/],
  ['an open {', 'tenants: {a: 1\n', /^1:10: this \{ is not closed$/],
  [
    'a variable in [ ]',
    `routes: [a, \${B}]\n`,
    /^1:14: inside \[ \] and \{ \}, a \$\{…\} must be in quotes$/,
  ],
  ['a glob without quotes', `${BASE}routes: [*.yaml]\n`, /^3:10: an alias without an anchor: /],
  ['an alias of nothing', `${BASE}listen: *nope\n`, /^3:9: an alias without an anchor: /],
  ['an anchor within itself', `${BASE}routes: &r [*r]\n`, /^3:13: an alias without an anchor: /],
  ['a merge key', `${BASE}<<: { ops: 'a:1' }\n`, /^3:1: << \(merge\) is not part of YAML 1\.2/],
  ['a second document', `${BASE}---\n${BASE}`, /^3:1: a second document begins here/],
  ['more after the end', `${BASE}...\nmore\n`, /^4:1: a second document begins here/],
  ['a colon in a value', `${BASE}ops: a: b\n`, /^3:6: a map cannot begin here/],
  ['no colon', `${BASE}ops\ndrain: 1s\n`, /^3:1: this line is not "key: value"/],
  ['bad indentation', `${BASE} ops: a:1\n`, /^3:1: wrong indentation|^3:2: /],
  ['a map as key', `${BASE}? { a: 1 }\n: b\n`, /^3:3: a key must be a string$/],
  [
    'a reserved character',
    `${BASE}ops: @x\n`,
    /^3:6: a value that begins with this character must be in quotes$/,
  ],
  ['a bad escape', `${BASE}ops: "\\q"\n`, /^3:7: unknown escape in double quotes/],
  ['a local tag', `${BASE}ops: !x y\n`, /^3:6: unknown tag/],
  ['!!binary', `${BASE}ops: !!binary aGVsbG8=\n`, /^3:6: unknown tag/],
  ['!!set', `${BASE}ops: !!set { x }\n`, /^3:6: unknown tag/],
  ['!!js/function', `${BASE}ops: !!js/function 'x'\n`, /^3:6: unknown tag/],
  ['YAML 1.1', `%YAML 1.1\n---\n${BASE}`, /^1:1: only YAML 1\.2/],
  ['a directive', `%NONSENSE\n---\n${BASE}`, /^1:1: unknown directive/],
  ['an IPv6 address without quotes', 'listen: [::1]:8080\n', /^1:14: unexpected character/],
  ['20,000 brackets', '['.repeat(20_000), /nested too deeply$/],
  ['NUL', 'listen: "\0"\n', /^1:10: has an invisible character here \(U\+0000\)/],
  ['a vertical tab', `${BASE}# \v\n`, /^3:3: has an invisible character here \(U\+000B\)/],
  ['DEL', `${BASE}ops: x\x7f\n`, /^3:7: has an invisible character here \(U\+007F\)/],
  [
    'NEL, a line break in some parsers',
    `${BASE}# x\x85ops: y\n`,
    /^3:4: has an invisible character here \(U\+0085\)/,
  ],
  ['U+2028, a line break in some parsers', `${BASE}# x\u2028ops: y\n`, /^3:4: .*U\+2028/],
  ['a lone CR, a line break in some parsers', `${BASE}# x\rops: y\n`, /^3:4: has a CR without an LF here$/],
  ['a bidirectional control character', `${BASE}# \u202e\n`, /^3:3: .*U\+202E/],
]

for (const [name, text, fault] of CASES) {
  t.test(name, async (t) => {
    const faults = await faultsOf(t, text)
    t.equal(faults.length, 1, faults.join('\n'))
    t.match(faults[0], fault)
    t.notMatch(faults[0], /\n|node_modules|at .*\.js/)
  })
}

t.test('invalid UTF-8 is reported at its position', async (t) => {
  const bytes = (...tail: number[]) => Buffer.concat([Buffer.from(`${BASE}# é`), Buffer.from(tail)])
  t.same(await faultsOf(t, bytes(0xff, 0x0a)), ['3:4: is not valid UTF-8 here'])
  t.same(await faultsOf(t, bytes(0xe2, 0x82)), ['3:4: is not valid UTF-8 here'], 'truncated')
  t.same(await faultsOf(t, bytes(0xc0, 0xaf)), ['3:4: is not valid UTF-8 here'], 'overlong')
  t.same(await faultsOf(t, bytes(0xed, 0xa0, 0x80)), ['3:4: is not valid UTF-8 here'], 'a surrogate')
  t.same(await faultsOf(t, Buffer.from(BASE, 'utf16le')).then((all) => all.length), 1, 'UTF-16')
  t.same(await faultsOf(t, Buffer.from([0xff])), ['1:1: is not valid UTF-8 here'])
})

t.test('a BOM and CRLF are permitted, and positions stay correct', async (t) => {
  const text = `\ufeff${BASE}drain: x\n`.replaceAll('\n', '\r\n')
  t.match(await faultsOf(t, text), [/^3:8: drain: "x" is not a duration/])
  t.match(await faultsOf(t, '\ufeffa: 1\n'), [
    /^1:1: the file must have the key "tenants"/,
    /^1:1: "a" is not a known key/,
  ])
})

t.test('aliases repeat the anchored value', async (t) => {
  const config = await configOf(
    t,
    `tenants: { a: { token: { secrets: [${'a'.repeat(32)}], lifetime: &t 2h, leeway: *t } } }\n`.replace(
      '2h',
      '1h',
    ),
  )
  t.match(config.tenants.get('a')?.token, { lifetime: 3_600_000, leeway: 3_600_000 })
})

t.test('an error in an aliased value is reported at the alias too', async (t) => {
  const faults = await faultsOf(t, `${BASE}drain: &d 1x\nlisten: *d\n`)
  t.match(faults, [/^3:11: drain: "1x" is not/, /^4:9: listen: "\*d" is not/])
  t.equal(faults.length, 2)
})
