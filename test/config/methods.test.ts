/** `methods:`: method names beyond IANA's registry for requests and route tables. */

import t from 'tap'
import { methodsOf, REGISTERED_METHODS } from '../../src/config/methods.ts'
import { BASE, configOf, faultsAt, Folder } from './support.ts'

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
  for (const [text, place] of [
    ["'A B'", '3:11'],
    ["'A:B'", '3:11'],
    [`'${'A'.repeat(65)}'`, '3:11'],
    ["'É'", '3:11'],
    ["''", '3:11'],
    ['ANY', '3:11'],
    ['any', '3:11'],
    ["'*'", '3:11'],
    ['CONNECT', '3:11'],
    ['trace', '3:11'],
    ['PRI', '3:11'],
    ['get', '3:11'],
    ['LIST, LIST', '3:17'],
    ['LIST, List', '3:17'],
    ['1', '3:11'],
  ] as const)
    await faultsAt(t, methods(text), place)
  await faultsAt(t, `${BASE}methods: LIST\n`, '3:10')
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
  for (const [methods, key, place] of [
    ['', 'LIST /a', 'a.yaml:3:3'],
    ['methods: [LIST]\n', 'LIS /a', 'a.yaml:3:3'],
    ['methods: [LIST]\n', 'list /a', 'a.yaml:3:3'],
    ['methods: [LIST]\n', 'BAN /a', 'a.yaml:3:3'],
  ] as const)
    await folder(methods, `  ${key}: public\n`).faultsAt(t, place)
})
