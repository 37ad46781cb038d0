import t from 'tap'
import { headerSpace } from '../../../src/decision/authn/request-space.ts'
import { Refusal } from '../../../src/model/errors.ts'

function read(...lines: string[]): string {
  const space = headerSpace({ apiKey: [], authorization: [], cookie: [], space: lines })
  return space instanceof Refusal ? space.code : space
}

t.test('one space id', async (t) => {
  for (const space of ['s1', 'A', '0', 'a.b_c~d-e', 'a'.repeat(128)]) t.equal(read(space), space)
})

t.test('no space id', async (t) => {
  t.equal(read(), 'space_required')
})

t.test('more than one space id', async (t) => {
  for (const lines of [['s1', 's1'], ['s1', ''], ['s1,s2'], ['s1,'], [',']])
    t.equal(read(...lines), 'request_malformed', JSON.stringify(lines))
})

t.test('malformed space ids', async (t) => {
  for (const text of [
    '',
    ' ',
    '*',
    's1:',
    's1 ',
    ' s1',
    '-a',
    '.',
    's/1',
    's1\n',
    'é',
    'a'.repeat(129),
    's%31',
  ])
    t.equal(read(text), 'request_malformed', JSON.stringify(text))
})
