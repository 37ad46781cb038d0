/** Files that are not YAML, or YAML that two parsers could read differently: one clear line, never a stack. */

import t from 'tap'
import { BASE, configOf, faultsAt } from './support.ts'

const CASES: readonly [name: string, text: string, place: string][] = [
  ['empty', '', '1:1'],
  ['comments only', '# nothing\n', '1:1'],
  ['a word', 'hello', '1:1'],
  ['a list', '- a\n', '1:1'],
  ['a tab', 'a:\n\tb: 1\n', '2:1'],
  ['a tab after spaces', 'a:\n  b: 1\n\tc: 1\n', '3:1'],
  ['equal keys', `${BASE}ops: a:1\nops: b:1\n`, '4:1'],
  ['equal keys within', `${BASE}tenants: {}\n`, '3:1'],
  ['equal keys, one quoted', `${BASE}'ops': a:1\nops: b:1\n`, '4:1'],
  ['equal keys, one escaped', `${BASE}"\\x6fps": a:1\nops: b:1\n`, '4:1'],
  ['an open double quote', 'listen: "x\nops: 1\n', '1:9'],
  ['an open single quote', "listen: 'x\nops: 1\n", '1:9'],
  ['an open [', 'routes: [a, b\nops: 1\n', '1:9'],
  ['an open {', 'tenants: {a: 1\n', '1:10'],
  ['a variable in [ ]', `routes: [a, \${B}]\n`, '1:14'],
  ['a glob without quotes', `${BASE}routes: [*.yaml]\n`, '3:10'],
  ['an alias of nothing', `${BASE}listen: *nope\n`, '3:9'],
  ['an anchor within itself', `${BASE}routes: &r [*r]\n`, '3:13'],
  ['a merge key', `${BASE}<<: { ops: 'a:1' }\n`, '3:1'],
  ['a merge key in quotes', `${BASE}"<<": { ops: 'a:1' }\n`, '3:1'],
  ['a second document', `${BASE}---\n${BASE}`, '3:1'],
  ['more after the end', `${BASE}...\nmore\n`, '4:1'],
  ['a colon in a value', `${BASE}ops: a: b\n`, '3:6'],
  ['no colon', `${BASE}ops\ndrain: 1s\n`, '3:1'],
  ['bad indentation', `${BASE} ops: a:1\n`, '3:1'],
  ['a map as key', `${BASE}? { a: 1 }\n: b\n`, '3:3'],
  ['a reserved character', `${BASE}ops: @x\n`, '3:6'],
  ['a bad escape', `${BASE}ops: "\\q"\n`, '3:7'],
  ['a local tag', `${BASE}ops: !x y\n`, '3:6'],
  ['!!binary', `${BASE}ops: !!binary aGVsbG8=\n`, '3:6'],
  ['!!set', `${BASE}ops: !!set { x }\n`, '3:6'],
  ['!!js/function', `${BASE}ops: !!js/function 'x'\n`, '3:6'],
  ['YAML 1.1', `%YAML 1.1\n---\n${BASE}`, '1:1'],
  ['a directive', `%NONSENSE\n---\n${BASE}`, '1:1'],
  ['an IPv6 address without quotes', 'listen: [::1]:8080\n', '1:14'],
  ['20,000 brackets', '['.repeat(20_000), '1:795'],
  ['NUL', 'listen: "\0"\n', '1:10'],
  ['a vertical tab', `${BASE}# \v\n`, '3:3'],
  ['DEL', `${BASE}ops: x\x7f\n`, '3:7'],
  ['NEL, a line break in some parsers', `${BASE}# x\x85ops: y\n`, '3:4'],
  ['U+2028, a line break in some parsers', `${BASE}# x\u2028ops: y\n`, '3:4'],
  ['a lone CR, a line break in some parsers', `${BASE}# x\rops: y\n`, '3:4'],
  ['a bidirectional control character', `${BASE}# \u202e\n`, '3:3'],
]

for (const [name, text, place] of CASES) {
  t.test(name, async (t) => {
    t.notMatch(await faultsAt(t, text, place), /\n|node_modules|at .*\.js/)
  })
}

t.test('invalid UTF-8 is reported at its position', async (t) => {
  const bytes = (...tail: number[]) => Buffer.concat([Buffer.from(`${BASE}# é`), Buffer.from(tail)])
  await faultsAt(t, bytes(0xff, 0x0a), '3:4')
  const others = { truncated: [0xe2, 0x82], overlong: [0xc0, 0xaf], 'a surrogate': [0xed, 0xa0, 0x80] }
  for (const each of Object.values(others)) await faultsAt(t, bytes(...each), '3:4')
  await faultsAt(t, Buffer.from(BASE, 'utf16le'), '1:2')
  await faultsAt(t, Buffer.from([0xff]), '1:1')
})

t.test('a BOM and CRLF are permitted, and positions stay correct', async (t) => {
  const text = `\ufeff${BASE}drain: x\n`.replaceAll('\n', '\r\n')
  await faultsAt(t, text, '3:8')
  await faultsAt(t, '\ufeffa: 1\n', '1:1 1:1')
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
  await faultsAt(t, `${BASE}drain: &d 1x\nlisten: *d\n`, '3:11 4:9')
})
