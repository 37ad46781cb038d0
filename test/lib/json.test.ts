import fc from 'fast-check'
import t from 'tap'
import { isJsonObject, MAX_DEPTH, parseJson } from '../../src/lib/json.ts'
import { anyText } from './any-text.ts'

function fault(text: string): string | null {
  const parsed = parseJson(text)
  return 'fault' in parsed ? parsed.fault : null
}

t.test('valid JSON without duplicates passes', async (t) => {
  for (const text of [
    '{}',
    '[]',
    'null',
    ' \t\r\n1 ',
    '""',
    '"a:b"',
    '{"a:b":"c:d","c":":"}',
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}',
    '{"\\"":1,"\\\\":2,"\\\\\\"":3}',
    '{"":1," ":2}',
    '{"toString":1,"constructor":2,"hasOwnProperty":3,"length":4}',
    '{"1":1,"0":2,"01":3,"-0":4}',
    '{"é":1,"e\u0301":2}',
    '["\\":","a\\\\",":"]',
  ]) {
    t.same(parseJson(text), { value: JSON.parse(text) }, text)
  }
})

t.test('invalid JSON is refused', async (t) => {
  for (const text of [
    '',
    ' ',
    '{',
    '"',
    '"\\',
    '{"a":1,}',
    "{'a':1}",
    '{"a":1}{"b":2}',
    '\uFEFF{}',
    '\u00a0{}',
    'NaN',
    'Infinity',
    '01',
    '{"a"::1}',
    '{"a":1//:\n}',
    '"\n"',
    ']]]]',
    '::::',
  ]) {
    t.equal(fault(text), 'not valid JSON', text)
  }
})

t.test('a fault discloses nothing of the input', async (t) => {
  for (const text of ['hunter2', '{"a":hunter2}', '{"hunter2":1,"hunter2":2}'])
    t.notMatch(JSON.stringify(parseJson(text)), 'hunter2')
})

t.test('duplicate members', async (t) => {
  for (const text of [
    '{"a":1,"a":1}',
    '{"a":1,"b":2,"a":3}',
    '{"a":1,"\\u0061":2}',
    '{"\\u0065xp":1,"exp":2}',
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
    '{"a":{"b":1,"b":2}}',
    '[1,[{"x":{"a":0,"a":0}}]]',
    // The lost member held more members than the one that stays.
    '{"a":{"x":1,"y":2},"a":{}}',
    '{"a":{},"a":{"x":1,"y":2}}',
    '{"1":1,"1":2}',
    '{"\\ud83d\\ude00":1,"\u{1f600}":2}',
  ]) {
    t.equal(fault(text), 'an object has the same member twice', text)
  }
})

t.test('__proto__ is a member like any other', async (t) => {
  const parsed = parseJson('{"__proto__":{"admin":true},"a":1}')
  const value = 'value' in parsed ? parsed.value : null
  t.ok(isJsonObject(value))
  t.ok(Object.hasOwn(value ?? {}, '__proto__'))
  t.equal(Reflect.get(value ?? {}, 'admin'), undefined)
  t.equal(Reflect.get({}, 'admin'), undefined)
})

t.test('depth', async (t) => {
  const nested = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth)
  t.equal(fault(nested(MAX_DEPTH)), null)
  t.equal(fault(nested(MAX_DEPTH + 1)), 'nested more than 64 levels deep')
  t.equal(fault(`${'{"a":'.repeat(MAX_DEPTH)}1${'}'.repeat(MAX_DEPTH)}`), null)
  t.equal(fault(`${'{"a":['.repeat(33)}${']}'.repeat(33)}`), 'nested more than 64 levels deep')
  t.equal(fault(`[${'[],'.repeat(1000)}[]]`), null, 'side by side is not deep')
  t.equal(fault(`"${'['.repeat(1000)}"`), null, 'nor is a bracket in a string')
  t.equal(fault('['.repeat(5_000_000)), 'nested more than 64 levels deep', 'no stack is used up')
})

t.test('isJsonObject', async (t) => {
  t.ok(isJsonObject({}))
  for (const value of [null, [], 'a', 1, true, undefined]) t.notOk(isJsonObject(value))
})

t.test('any JSON is parsed as by JSON.parse', async () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      // fast-check writes what it made as an object, so nothing is there twice.
      const parsed = parseJson(text)
      return 'value' in parsed && JSON.stringify(parsed.value) === JSON.stringify(JSON.parse(text))
    }),
  )
})

t.test('any duplicate member is found', async () => {
  const members = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1 })
  fc.assert(
    fc.property(members, fc.nat(), (object, pick) => {
      const names = Object.keys(object)
      const name = names[pick % names.length] ?? ''
      const text = JSON.stringify(object)
      return fault(`${text.slice(0, -1)},${JSON.stringify(name)}:0}`) !== null
    }),
  )
})

t.test('any text is parsed or refused', async () => {
  const jsonish = fc.array(fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', 'a', '1', ' '))
  fc.assert(
    fc.property(
      fc.oneof(
        anyText(),
        jsonish.map((all) => all.join('')),
      ),
      (text) => {
        const parsed = parseJson(text)
        return 'value' in parsed || parsed.fault.length > 0
      },
    ),
    { numRuns: 1000 },
  )
})
