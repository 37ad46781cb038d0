/** `methods:`: method names beyond IANA's registry for requests and route tables. */

import t, { type Test } from 'tap'
import { methodsOf, REGISTERED_METHODS } from '../../src/config/methods.ts'
import { BASE, configOf, faultsOf, Folder } from './support.ts'

async function one(t: Test, text: string, message: RegExp): Promise<void> {
  const faults = await faultsOf(t, text)
  t.equal(faults.length, 1, text)
  t.match(faults[0], message, text)
}

t.test('none by default, and always the registered ones', async (t) => {
  const config = await configOf(t, BASE)
  t.same(config.methods, [])
  t.same(methodsOf(config), new Set(REGISTERED_METHODS))
  for (const no of ['PRI', '*', 'ANY', 'PURGE', 'M-SEARCH', 'get']) t.notOk(methodsOf(config).has(no), no)
})

t.test('the listed ones, case-sensitive', async (t) => {
  const config = await configOf(t, `${BASE}methods: [LIST, ban, x!y, PATCH]\n`)
  t.same(config.methods, ['LIST', 'ban', 'x!y', 'PATCH'])
  t.ok(['LIST', 'ban', 'x!y', 'GET'].every((each) => methodsOf(config).has(each)))
  t.notOk(methodsOf(config).has('BAN'))
})

t.test('invalid methods, and those that the gateway does not serve', async (t) => {
  const methods = (text: string) => `${BASE}methods: [${text}]\n`
  for (const [text, message] of [
    ["'A B'", /not a method/],
    ["'A:B'", /not a method/],
    [`'${'A'.repeat(65)}'`, /not a method/],
    ["'É'", /not a method/],
    ["''", /not a method|methods\[0\]/],
    ['ANY', /is not allowed as a request method/],
    ['any', /is not allowed as a request method/],
    ["'*'", /is not allowed as a request method/],
    ['CONNECT', /is not allowed as a request method/],
    ['trace', /is not allowed as a request method/],
    ['PRI', /is not allowed as a request method/],
    ['get', /a registered method, but not in upper case \(did you mean "GET"\?\)/],
    ['LIST, LIST', /methods\[1\]: .*is listed twice/],
    ['LIST, List', /methods\[1\]: .*is listed twice/],
    ['1', /must be a string/],
  ] as const)
    await one(t, methods(text), message)
  await one(t, `${BASE}methods: LIST\n`, /methods must be a list/)
})

t.test('a table may use the listed ones, and no others', async (t) => {
  const folder = (methods: string, routes: string) =>
    new Folder(t, {
      'gateway.config.yaml': `${BASE}routes: [a.yaml]\n${methods}`,
      'a.yaml': `upstream: main\nroutes:\n${routes}`,
    })
  const { entries } = await folder('methods: [LIST, x!y]\n', '  LIST /a: public\n  x!y /a: public\n').load()
  t.same(
    entries.map(({ method }) => method),
    ['LIST', 'x!y'],
  )
  for (const [methods, key, hint] of [
    ['', 'LIST /a', /ANY.*: list a method outside IANA's registry under "methods"/],
    ['methods: [LIST]\n', 'LIS /a', /did you mean "LIST"\?/],
    ['methods: [LIST]\n', 'list /a', /write LIST$/],
    ['methods: [LIST]\n', 'BAN /a', /ANY.*: list a method outside IANA's registry under "methods"/],
  ] as const)
    t.match(await folder(methods, `  ${key}: public\n`).faults(), [hint], key)
})
