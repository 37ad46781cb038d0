import t from 'tap'
import { PAGE, pageOf, readParameters } from '../../../seats-admin/api/parameters.ts'
import { isRefusal } from '../../../seats-admin/index.ts'

const ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV'

function readPage(query: string) {
  const read = readParameters(query, PAGE)
  return isRefusal(read) ? read : pageOf(read)
}

t.test('pages', async (t) => {
  t.strictSame(readPage(''), { limit: 20, after: null })
  for (const limit of [1, 9, 10, 99, 100]) t.strictSame(readPage(`limit=${limit}`), { limit, after: null })
  t.strictSame(readPage(`after=${ID}&limit=5`), { limit: 5, after: ID })
  t.strictSame(readPage('limit=%35'), { limit: 5, after: null })
})

t.test('a fault has the name of the parameter', async (t) => {
  const cases: [query: string, ...paths: string[]][] = [
    ...[
      '',
      '0',
      '01',
      '101',
      '1000',
      '-1',
      '+1',
      '1.0',
      '1e1',
      '0x1',
      ' 1',
      '1%20',
      'abc',
      'NaN',
      '١',
      '2,3',
    ].map((limit): [string, string] => [`limit=${limit}`, '/limit']),
    ...['', 'x', ID.toLowerCase(), `${ID}0`, ID.slice(1), `${ID}%00`, '%zz', `8${ID.slice(1)}`].map(
      (after): [string, string] => [`after=${after}`, '/after'],
    ),
    ['limit', '/limit'],
    ['limit=1&limit=1', '/limit'],
    [`after=${ID}&after=${ID}`, '/after'],
    ['limit=1&%6cimit=2', '/limit'],
    ['Limit=1', '/Limit'],
    ['limit[]=1', '/limit[]'],
    ['limit=1&offset=2', '/offset'],
    ['a/b~=1', '/a~1b~0'],
    ['=1', '/'],
    ['__proto__=1', '/__proto__'],
    ['limit=0&after=x&y', '/limit', '/after', '/y'],
  ]
  for (const [query, ...paths] of cases) {
    const result = readPage(query)
    t.same(isRefusal(result) && result.faults?.map((fault) => fault.path), paths, query)
  }
  const some = (count: number) => readPage(Array.from({ length: count }, (_, at) => `p${at}=`).join('&'))
  const [most, more] = [some(64), some(65)]
  t.equal(isRefusal(most) && most.faults?.length, 50)
  t.match(isRefusal(more) && more.faults, [{ path: '', message: /at most 64 parameters/ }])
  t.ok(isRefusal(readPage(`limit=1${'&'.repeat(64)}`)), 'empty ones count')
})
