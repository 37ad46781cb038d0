import t from 'tap'
import { isName } from '../../../seats-admin/api/formats.ts'

/** In ASCII: a Unicode line separator would break the TAP output. */
function shown(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16)}`)
}

t.test('names', async (t) => {
  const yes = [
    'a',
    'Führung',
    'a b',
    'a:b',
    'a,b',
    '管理者',
    '💺',
    'e\u0301',
    '\u200b',
    'a\u00a0b',
    '"\\/',
    '%',
    '*',
    '__proto__',
  ]
  for (const name of yes) t.equal(isName(name), true, shown(name))
  const edges = [' ', '\t', '\u00a0', '\u2003', '\u3000', '\ufeff', '\u2029']
  for (const edge of edges) {
    for (const name of [edge, `${edge}a`, `a${edge}`]) t.equal(isName(name), false, shown(name))
  }
  for (const inside of [
    '\0',
    '\t',
    '\n',
    '\r',
    '\u001f',
    '\u007f',
    '\u0080',
    '\u0085',
    '\u009f',
    '\u2028',
    '\u2029',
  ]) {
    t.equal(isName(`a${inside}b`), false, shown(inside))
  }
  for (const broken of ['\ud800', 'a\udc00', '\udc00\ud800'])
    t.equal(isName(broken), false, 'a lone surrogate')
})

t.test('the length is counted in characters', async (t) => {
  t.equal(isName(''), false)
  for (const letter of ['a', 'ä', '管', '💺']) {
    t.equal(isName(letter.repeat(256)), true, letter)
    t.equal(isName(letter.repeat(257)), false, letter)
  }
  t.equal(isName('a'.repeat(1_000_000)), false)
})
