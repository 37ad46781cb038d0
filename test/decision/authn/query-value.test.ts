import t from 'tap'
import { queryValue } from '../../../src/decision/authn/query-value.ts'
import { Refusal } from '../../../src/model/errors.ts'

function codeOf(query: string): string | null {
  const value = queryValue(query, 'space')
  return value instanceof Refusal ? value.code : value
}

/** Names that some server may take for another one, or cannot decode. */
const UNUSUAL = ['a%20b', 'a+b', 'a[]', '[a', 'a.b', '\xc3\xa9', 'a b', 'a;b[']

t.test('many parameters of usual names, before and after the one that counts', async (t) => {
  const many = 'item=1&'.repeat(1000)
  t.equal(codeOf(`?${many}space=north&${many}`), 'north')
  t.equal(codeOf(`?${many}space=north&${many}SPACE=south`), 'request_malformed')
  t.equal(codeOf(`?${'spacf=1&'.repeat(1000)}space=north`), 'north', 'of the same length')
})

t.test('unusual names are read up to a limit, and refused beyond it', async (t) => {
  for (const name of UNUSUAL) {
    const some = (count: number) => codeOf(`?space=north&${`${name}=1&`.repeat(count)}`)
    t.equal(some(64), 'north', name)
    t.equal(some(65), 'request_malformed', name)
  }
})
