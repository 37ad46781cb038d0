/** The exact difference of two route tables. */

import fc from 'fast-check'
import t from 'tap'
import { differences } from '../../src/access/difference.ts'
import { faultsOf } from './compare.ts'
import { EVERY_HOST, everyPath, hostPairs, pairs, tablesOf } from './random-tables.ts'

const diff = (before: readonly string[], after: readonly string[]) =>
  differences(tablesOf({ lines: before }), tablesOf({ lines: after })).map(
    ({ before: one, after: other, witness }) =>
      `${witness.method} ${witness.path}: ${one?.id ?? 'none'} -> ${other?.id ?? 'none'}`,
  )

t.test('random pairs of tables', async (t) => {
  const paths = everyPath(3)
  fc.assert(
    fc.property(pairs(3), (pair) => {
      t.same(faultsOf(pair, paths), [])
    }),
    { numRuns: 30 },
  )
})

t.test('random pairs of tables with hosts', async (t) => {
  const paths = everyPath(2)
  fc.assert(
    fc.property(hostPairs(2), (pair) => {
      t.same(faultsOf(pair, paths, differences, EVERY_HOST), [])
    }),
    { numRuns: 20 },
  )
})

t.test('equal', async (t) => {
  t.same(diff([], []), [])
  t.same(diff(['GET /a: p:q', 'POST /a: p:q'], ['POST /a: p:q', 'GET /a: p:q']), [])
  t.same(diff(['GET /a/{x}: p:q'], ['GET /a/{y}: p:q']), [], 'another name')
  const split = ['GET /a/{x}: p:q', 'GET /a/b: p:q', 'HEAD /a/b: p:q']
  t.same(diff(split, ['GET /a/{x}: p:q']), [], 'other entries, same answers')
})

t.test('a witness is as short as there is', async (t) => {
  t.same(diff(['GET /a/b: p:q'], ['GET /a/b: r:s']), ['GET /a/b: GET /a/b -> GET /a/b'])
  t.same(diff(['ANY /*: public', 'GET /a/{x}: p:q'], ['ANY /*: public']), ['GET /a/x: GET /a/{x} -> ANY /*'])
  t.same(diff(['GET /x: public', 'GET /{a}: p:q'], ['GET /x: public']), ['GET /x1: GET /{a} -> none'])
})

t.test('methods', async (t) => {
  t.same(diff(['GET /a: p:q'], ['ANY /a: p:q']), ['POST /a: none -> ANY /a'])
  t.same(diff(['GET /a: p:q'], ['GET /a: p:q', 'HEAD /a: public']), ['HEAD /a: GET /a -> HEAD /a'])
  const purge = tablesOf({ lines: ['ANY /a: p:q'], methods: ['PURGE'] })
  t.match(differences(tablesOf({ lines: ['ANY /a: p:q'] }), purge), [
    { before: null, witness: { method: 'PURGE', path: '/a' } },
  ])
})

t.test('hosts', async (t) => {
  const one = ['GET a.example/x: p:q', 'GET *.example/x: p:q', 'GET /x: p:q']
  t.same(diff(one, ['GET a.example,*.example/x: p:q', 'GET /x: p:q']), [], 'one table or two')
  const shown = differences(tablesOf({ lines: one }), tablesOf({ lines: one.slice(1) }))
  t.same(shown, [], 'the wildcard answers the same')
  const [moved] = differences(
    tablesOf({ lines: one }),
    tablesOf({ lines: [...one.slice(1), 'GET a.example/y: p:q'] }),
  )
  t.match(moved?.witness, { method: 'GET', host: 'a.example' }, 'it does not fall back any more')
  const [wild] = differences(
    tablesOf({ lines: one }),
    tablesOf({ lines: ['GET a.example/x: p:q', 'GET /x: p:q'] }),
  )
  t.equal(wild, undefined, 'hosts without a table of their own have the same entry')
})
