/** "Billion laughs": a few lines of aliases that expand beyond any memory. They give one error, at once. */

import t from 'tap'
import { BASE, configOf, faultsAt, tableFaultsAt } from './support.ts'

const bomb = (levels: number) =>
  ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    .concat(
      Array.from(
        { length: levels },
        (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`,
      ),
    )
    .join('\n')

t.test('of lists', async (t) => {
  await faultsAt(t, bomb(30), '1:1')
})

t.test('in a route table', async (t) => {
  await tableFaultsAt(t, bomb(12), '1:1')
})

t.test('of maps with one level and many keys', async (t) => {
  const keys = Array.from({ length: 200 }, (_, i) => `k${i}: 1`).join(', ')
  const uses = Array.from({ length: 200 }, (_, i) => `u${i}: *a`).join(', ')
  await faultsAt(t, `a: &a { ${keys} }\nb: { ${uses} }\n`, '1:1')
})

t.test('a few aliases are permitted', async (t) => {
  const uses = Array.from({ length: 50 }, (_, i) => `  u${i}: *u\n`).join('')
  const config = await configOf(
    t,
    BASE.replace(/upstreams.*\n/, `upstreams:\n  u: &u { targets: ['http://a'] }\n${uses}`),
  )
  t.equal(config.upstreams.size, 51)
})
