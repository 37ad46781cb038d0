import fc from 'fast-check'
import t from 'tap'
import { canonicalJson, type Json } from '../../../seats-admin/model/canonical-json.ts'
import { anyCharacter } from '../../lib/any-text.ts'

t.test('the examples of RFC 8785', async (t) => {
  const input = JSON.parse(String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`)
  t.equal(
    canonicalJson(input),
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    'section 3.2.2 and 3.2.3',
  )
  const names = JSON.parse(String.raw`{
    "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
    "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"
  }`)
  t.same(
    Object.values(JSON.parse(canonicalJson(names))).toSorted(),
    Object.values(names).toSorted(),
    'all members',
  )
  const order = [...canonicalJson(names).matchAll(/:"([^"]*)"/g)].map(([, value]) => value)
  t.same(order, [
    'Carriage Return',
    'One',
    'Control',
    'Latin Small Letter O With Diaeresis',
    'Euro Sign',
    'Emoji: Grinning Face',
    'Hebrew Letter Dalet With Dagesh',
  ])
})

t.test('numbers of appendix B', async (t) => {
  for (const [bits, expected] of [
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555555', '333333333.3333333'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ] as const)
    t.equal(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE()), expected)
})

t.test('equal values have one text, which is their JSON', async (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 4 }), (value) => {
      const shuffled = JSON.parse(JSON.stringify(value), (_, part: unknown) =>
        typeof part === 'object' && part !== null && !Array.isArray(part)
          ? Object.fromEntries(Object.entries(part).toReversed())
          : part,
      )
      const text = canonicalJson(value as Json)
      t.equal(canonicalJson(shuffled), text)
      t.strictSame(JSON.parse(text), JSON.parse(JSON.stringify(value)))
    }),
  )
})

t.test('what JSON can not hold is refused', async (t) => {
  for (const value of ['\ud800', { '\udfff': 1 }, [[Infinity]], Number.NaN])
    t.throws(() => canonicalJson(value), RangeError)
})
